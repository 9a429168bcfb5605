import { createTestHost, type TestHost } from '@cinnabar/core/testing';
import { CinnabarError, definePlugin, Llm, type LlmCompletion, type LlmRequest } from '@cinnabar/sdk';
import { expect } from 'chai';
import { openFence } from '../../../sdk/text/markdown.js';

/** A model whose output the test writes. */
function spokenLlm() {
  const asked: { request: LlmRequest; end(text: string): void; fail(error: unknown): void }[] = [];
  const waiting: (() => void)[] = [];
  const plugin = definePlugin({
    manifest: { id: 'spoken-llm', version: '1.0.0', description: 'A model that says what it is told to' },
    provides: [Llm],
    setup({ provide }) {
      provide(Llm, {
        current: { provider: 'spoken', model: 'spoken' },
        complete: (request) =>
          new Promise<LlmCompletion>((resolve, reject) => {
            const end = (text: string) =>
              resolve({
                content: text === '' ? [] : [{ type: 'text', text }],
                stopReason: 'end_turn',
                usage: { inputTokens: 1, outputTokens: 1 },
                model: 'spoken',
                provider: 'spoken',
                mode: 'chat',
              });
            asked.push({ request, end, fail: reject });
            for (const go of waiting.splice(0)) go();
          }),
        findings: async () => [],
        traits: async () => ({
          provider: 'spoken',
          model: 'spoken',
          modes: ['chat'],
          images: false,
          contextTokens: 100_000,
          cache: { kind: 'none', breakpoints: 0, minTokens: 0, ttls: [], lookBackBlocks: 0 },
          price: undefined,
        }),
        embed: async () => undefined,
        finishWork: async () => undefined,
        render: async () => ({ provider: 'spoken', model: 'spoken', mode: 'chat', body: null }),
      });
    },
  });
  return {
    plugin,
    async request() {
      if (asked.length === 0) await new Promise<void>((resolve) => waiting.push(resolve));
      const newest = asked.at(-1);
      if (newest === undefined) throw new Error('Nobody asked.');
      return newest;
    },
  };
}

describe('chat: answers that grow while the model writes', () => {
  let host: TestHost;
  let llm: ReturnType<typeof spokenLlm>;
  beforeEach(async () => {
    llm = spokenLlm();
    host = await createTestHost({ plugins: ['admin', 'ai', 'chat', llm.plugin] });
    host.you.say(host.general, '!set chat streaming true');
    await host.settled();
    host.alice.say(host.general, '!ai Tell me');
  });
  afterEach(() => host[Symbol.asyncDispose]());

  const shown = () => host.general.messages.slice(3).map(({ content }) => content);
  const edits = () => host.discord.requests.of('PATCH', '/channels/:channelId/messages/:messageId').length;
  /** Waits for requests to Discord, and advances the clock a little. */
  const pass = async (ms: number) => {
    await host.discord.settled();
    host.clock.advance(ms);
    await host.discord.settled();
  };
  const until = async (condition: () => boolean) => {
    for (let tries = 0; tries < 50 && !condition(); tries += 1) await pass(1_000);
    expect(condition()).to.equal(true);
  };

  it('are edited at most once a second, and exact in the end', async () => {
    const { request, end } = await llm.request();
    request.onText?.('Once', false);
    await until(() => shown().length === 1);
    expect(shown()).to.deep.equal(['Once']);
    const before = edits();
    for (let word = 0; word < 20; word += 1) {
      request.onText?.(` upon ${word}`, false);
      await pass(100);
    }
    expect(edits() - before).to.be.within(1, 3);
    end('Once upon a time.');
    await until(() => shown()[0] === 'Once upon a time.');
    await host.settled();
    expect(shown()).to.deep.equal(['Once upon a time.']);
  });

  it('grow into further messages at 1,800 characters, with code fences whole', async () => {
    const { request, end } = await llm.request();
    const lines = Array.from({ length: 120 }, (_, line) => `const line${line} = 'some code that is long';`);
    const text = `Here:\n\`\`\`js\n${lines.join('\n')}\n\`\`\`\nDone.`;
    request.onText?.(text.slice(0, 1_000), false);
    await pass(0);
    request.onText?.(text.slice(1_000, 3_000), false);
    await pass(1_000);
    end(text);
    await until(() => shown().at(-1)?.includes('Done.') === true);
    await host.settled();
    expect(shown().length).to.be.greaterThan(2);
    expect(shown().filter((part) => part.length > 1_800 || openFence(part) !== undefined)).to.deep.equal([]);
  });

  it('start over when the request is repeated', async () => {
    const { request, end } = await llm.request();
    request.onText?.('This attempt will', false);
    await until(() => shown().length === 1);
    request.onText?.('A fresh', true);
    end('A fresh start.');
    await until(() => shown()[0] === 'A fresh start.');
    await host.settled();
    expect(shown()).to.deep.equal(['A fresh start.']);
  });

  it('leave no half answer behind when the model fails', async () => {
    const { request, fail } = await llm.request();
    request.onText?.('The secret is', false);
    await until(() => shown().length === 1);
    fail(new CinnabarError('CINNABAR_LLM_UNAVAILABLE'));
    await until(() => shown()[0] !== 'The secret is');
    await host.settled();
    expect(shown()).to.deep.equal(['The language model cannot be reached at the moment.']);
  });

  it('are not shown when there is nothing in them after all', async () => {
    const { request, end } = await llm.request();
    request.onText?.('<think', false);
    await until(() => shown().length === 1);
    end('');
    await until(() => shown()[0]?.startsWith('The language model had nothing to say') === true);
    await host.settled();
    expect(shown()).to.have.length(1);
  });
});
