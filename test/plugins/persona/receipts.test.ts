import { Accounts } from '@cinnabar/sdk';
import { expect } from 'chai';
import { openPersonaHarness, plan, result, speak, think } from './harness.js';

describe('persona: what it costs', () => {
  const usage = { inputTokens: 1_000, outputTokens: 100 };

  it('is in a receipt for each run, for the requester', async () => {
    await using harness = await openPersonaHarness(
      [
        { ...plan([think('Hm.'), { action: 'UPDATE_MOOD' }, speak('Hello.')]), usage },
        { ...result({ mood: 'glad', intensity: 4 }), usage },
      ],
      { more: ['accounts'] },
    );
    await harness.hears('Hi');
    const [receipt] = await harness.resolve(Accounts).receipts(harness.general.id, 'persona');
    expect(receipt).to.deep.include({ mind: 'persona', calls: 2, trigger: 'I was spoken to', model: 'scripted' });
    expect(receipt?.usage).to.deep.include({ inputTokens: 2_000, outputTokens: 200 });
    expect(receipt?.cost).to.be.closeTo(0.009, 1e-9);
    expect(receipt?.actor.userId).to.equal(harness.alice.id);
    expect(receipt?.details[0]).to.equal('Actions: THINK, UPDATE_MOOD, SPEAK');
    const answer = harness.general.messages.find(({ content }) => content === 'Hello.');
    expect(receipt?.messageIds).to.deep.equal([answer?.id]);
  });

  it('is there, too, when nothing was said', async () => {
    await using harness = await openPersonaHarness([{ ...plan([]), usage }], { more: ['accounts'] });
    await harness.hears('Hi');
    const [receipt] = await harness.resolve(Accounts).receipts(harness.general.id);
    expect(receipt).to.deep.include({ calls: 1, messageIds: [] });
  });
});
