import { createTestHost } from '@cinnabar/core/testing';
import { Llm, type LlmRequest } from '@cinnabar/sdk';
import { expect } from 'chai';
import { calledAfter, chat, createChannel, idAt, picture, said } from './harness.js';

interface Block {
  readonly type: string;
  readonly cache_control?: unknown;
}
interface Body {
  readonly messages: readonly { readonly role: string; readonly content: string | readonly Block[] }[];
}

describe('chat context: on the wire', () => {
  /** Every block of the request as the provider compares it, without its cache breakpoint. */
  const blocksOf = ({ messages }: Body) =>
    messages.flatMap(({ role, content }) =>
      typeof content === 'string'
        ? [{ text: JSON.stringify([role, content]), marked: false }]
        : content.map(({ cache_control, ...block }) => ({
            text: JSON.stringify([role, block]),
            marked: cache_control !== undefined,
          })),
    );

  const isBody = (body: unknown): body is Body => typeof body === 'object' && body !== null && 'messages' in body;

  async function render(llm: Llm, request: LlmRequest) {
    const { body } = await llm.render(request);
    if (!isBody(body)) throw new Error('not a request of the Messages API');
    return blocksOf(body);
  }

  for (const mode of ['chat', 'prefill'] as const) {
    it(`in ${mode} mode, each request begins with the very blocks up to the last breakpoint of the one before`, async () => {
      await using host = await createTestHost({
        plugins: ['llm'],
        settings: { llm: { provider: 'anthropic', model: 'claude-opus-4-5' } },
        env: { ANTHROPIC_API_KEY: 'none-is-sent' },
      });
      const llm = host.resolve(Llm);
      const channel = createChannel({
        system: 'Rules. '.repeat(300),
        config: { cache: '1h', mode, maxImages: 20, rollingThreshold: 100 },
      });
      const messages = [...chat(30)];
      const records = [];
      let before: readonly { readonly text: string; readonly marked: boolean }[] = [];
      for (let round = 0; round < 8; round++) {
        messages.push(...chat(3, messages.length), said('Bob', 'Look', { attachments: [picture(`cGlj${round}`)] }));
        records.push(calledAfter(messages.length - 1, { callId: `call_${round}` }));
        const { request } = await channel.activate(messages, {
          records: [...records],
          traits: { provider: 'anthropic' },
        });
        const blocks = await render(llm, request);
        const cached = before.findLastIndex(({ marked }) => marked) + 1;
        expect(blocks.slice(0, cached).map(({ text }) => text)).to.deep.equal(
          before.slice(0, cached).map(({ text }) => text),
        );
        expect(cached).to.be.greaterThan(round === 0 ? -1 : 10);
        before = blocks;
        messages.push(said('Claude', `I see ${idAt(round)},`), said('Claude', 'indeed.'));
      }
    });
  }
});
