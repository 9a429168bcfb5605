import { meterLlm, type Receipt, type UnmeteredLlm } from '@cinnabar/sdk';
import { createManualClock } from '@cinnabar/sdk/testing';
import { expect } from 'chai';

describe('metering', () => {
  it('keeps one receipt of a piece of work whose tool waits for hours between two requests', async () => {
    const clock = createManualClock();
    const receipts = new Map<string, Receipt>();
    const unused = async (): Promise<never> => {
      throw new Error('not used here');
    };
    const usage = {
      inputTokens: 10,
      outputTokens: 0,
      cacheCreationTokens: 0,
      cacheReadTokens: 0,
      cacheCreation1hTokens: 0,
    };
    const models: UnmeteredLlm = {
      current: { provider: 'offline', model: 'offline' },
      traits: unused,
      render: unused,
      complete: unused,
      embeddingModel: async () => ({ model: 'small', price: undefined }),
      async embed(_texts, _request, onUse) {
        onUse({ kind: 'embedding', model: 'small', provider: 'far', usage, price: undefined });
        return undefined;
      },
    };
    const accounts = {
      check: async () => ({ allowed: true, reasons: [] }),
      reserve: async () => ({ decision: { allowed: true, reasons: [] }, release: async () => undefined }),
      record: async (receipt: Receipt) => void receipts.set(receipt.id, receipt),
      keepRequest: async () => undefined,
    };
    const llm = meterLlm(models, { accounts, clock, random: { id: () => 'an id' } });
    const actor = { userId: '1', guildId: '2', channelId: '3' };
    const charge = { actor, responder: 'chat', trigger: 'I was mentioned', work: 'one answer' };
    await llm.embed(['a'], { charge });
    clock.advance(3 * 60 * 60_000);
    await llm.embed(['b'], { charge });
    await llm.finishWork(charge);
    expect([...receipts.values()].map(({ calls, usage: { inputTokens } }) => [calls, inputTokens])).to.deep.equal([
      [2, 20],
    ]);
  });
});
