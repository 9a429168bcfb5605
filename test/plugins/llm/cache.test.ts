import { say } from '@cinnabar/local-models';
import type { CacheControl } from '@cinnabar/sdk';
import { expect } from 'chai';
import fc from 'fast-check';
import { ask, DICE, from, openRoute, ROUTES } from './harness.js';

const [RESPONSES, , , , ANTHROPIC, , BEDROCK] = ROUTES;
const SHORT: CacheControl = { type: 'ephemeral' };
const HOUR: CacheControl = { type: 'ephemeral', ttl: '1h' };

function marked(participant: string, text: string, cacheControl: CacheControl) {
  return { ...from(participant, text), cacheControl };
}

/** The text before each breakpoint in its block, and the breakpoint's lifetime, in order of the prompt. */
function breakpoints(body: unknown): readonly string[] {
  const { tools, system, messages } = JSON.parse(JSON.stringify(body));
  const blocks = [
    tools ?? [],
    typeof system === 'string' ? [] : system,
    messages.map((one: { content: unknown }) => one.content),
  ];
  return blocks
    .flat(3)
    .flatMap((block: { name?: string; text?: string; type?: string; cache_control?: CacheControl }) =>
      block.cache_control ? [`${block.name ?? block.text ?? block.type}|${block.cache_control.ttl ?? '5m'}`] : [],
    );
}

describe('llm cache', () => {
  for (const route of [ANTHROPIC, BEDROCK]) {
    it(`${route.route}: marks tools, system prompt and messages, each with its time`, async () => {
      await using harness = await openRoute(route, { model: 'claude-opus-5', script: () => say('ok') });
      const messages = [
        from('Alice', 'one'),
        marked('Bob', 'two', HOUR),
        from('Cinnabar', 'three'),
        marked('Alice', 'four', SHORT),
      ];
      await harness.llm.complete(
        ask(messages, { system: 'Be kind.', tools: [DICE], cache: { tools: HOUR, system: HOUR } }),
      );
      const [tools, system, ...rest] = breakpoints(harness.api.requests[0]?.body);
      expect(tools).to.equal('roll_dice|1h');
      expect(system).to.match(/^Be kind\..*\|1h$/s);
      expect(rest).to.deep.equal(['\nBob: two|1h', 'Alice: four|5m']);
    });
  }

  it('keeps a mark at the end of what its participant said, when the model spoke twice, called, or said nothing', async () => {
    await using harness = await openRoute(ANTHROPIC, { script: () => say('ok') });
    const use = { type: 'tool_use' as const, id: 'a', name: 'roll_dice', input: {} };
    const result = { type: 'tool_result' as const, toolUseId: 'a', content: 'four' };
    await harness.llm.complete(
      ask(
        [
          from('Alice', 'hi'),
          marked('Cinnabar', 'one', SHORT),
          from('Cinnabar', 'two'),
          { ...from('Cinnabar', use), cacheControl: SHORT },
          { ...from('Cinnabar', result), cacheControl: SHORT },
          from('Alice', 'nice'),
          { ...from('Cinnabar', ''), cacheControl: SHORT },
        ],
        { tools: [DICE] },
      ),
    );
    expect(breakpoints(harness.api.requests[0]?.body)).to.deep.equal([
      'one|5m',
      'roll_dice|5m',
      'tool_result|5m',
      'Alice: nice|5m',
    ]);
  });

  it('sends at most four and never an hour after five minutes, whatever is marked, and the provider takes it', async () => {
    await using harness = await openRoute(ANTHROPIC, {
      model: 'claude-opus-4-5',
      prefill: true,
      script: () => say('ok'),
    });
    const cache = fc.constantFrom(undefined, SHORT, HOUR);
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.tuple(fc.constantFrom('Alice', 'Bob', 'Cinnabar'), fc.constantFrom('', 'hi', 'a\nb'), cache), {
          maxLength: 12,
        }),
        cache,
        cache,
        fc.constantFrom('chat' as const, 'prefill' as const),
        async (said, tools, system, mode) => {
          const messages = said.map(([name, text, mark]) => ({
            ...from(name, text),
            ...(mark && { cacheControl: mark }),
          }));
          const request = { tools: [DICE], mode, cache: { ...(tools && { tools }), ...(system && { system }) } };
          const completion = await harness.llm.complete(ask(messages, request));
          expect(completion.mode).to.equal(mode);
          expect(breakpoints(harness.api.requests.at(-1)?.body).length).to.be.at.most(4);
        },
      ),
      { numRuns: 40 },
    );
  });

  it('gives up the mark on the tools first, then the earliest', async () => {
    await using harness = await openRoute(ANTHROPIC);
    const messages = ['1', '2', '3', '4'].map((text) => marked('Alice', text, SHORT));
    const { body } = await harness.llm.render(
      ask(messages, { system: 'S', tools: [DICE], cache: { tools: SHORT, system: SHORT } }),
    );
    const [system, ...rest] = breakpoints(body);
    expect(system).to.match(/^S\n/);
    expect(rest).to.deep.equal(['\nAlice: 2|5m', '\nAlice: 3|5m', '\nAlice: 4|5m']);
  });

  it('follows what the admin says of a model', async () => {
    const models = {
      few: { cache: { breakpoints: 1, ttls: ['5m' as const] } },
      'no*': { cache: { kind: 'none' as const } },
    };
    await using harness = await openRoute(ANTHROPIC, { settings: { models } });
    const messages = [marked('Alice', '1', HOUR), marked('Bob', '2', HOUR)];
    const rendered = async (model: string) => breakpoints((await harness.llm.render(ask(messages, { model }))).body);
    expect(await rendered('few')).to.deep.equal(['\nBob: 2|5m']);
    expect(await rendered('none')).to.deep.equal([]);
  });

  it('keeps the text the same for providers that cache by themselves', async () => {
    await using harness = await openRoute(RESPONSES);
    const plain = [from('Alice', 'one'), from('Bob', 'two'), from('Cinnabar', 'three'), from('Bob', 'four')];
    const all = plain.map((message) => ({ ...message, cacheControl: HOUR }));
    expect((await harness.llm.render(ask(all))).body).to.deep.equal((await harness.llm.render(ask(plain))).body);
  });

  it('counts what was written for an hour apart', async () => {
    const usage = {
      inputTokens: 100,
      outputTokens: 1,
      cacheReadTokens: 20,
      cacheCreationTokens: 70,
      cacheCreation1hTokens: 40,
    };
    for (const route of ROUTES.filter(({ provider }) => provider === 'anthropic' || provider === 'bedrock')) {
      await using harness = await openRoute(route, { steps: [say('ok', { usage })] });
      expect((await harness.llm.complete(ask([from('Alice', 'hi')]))).usage, route.route).to.deep.equal({
        inputTokens: 10,
        outputTokens: 1,
        cacheReadTokens: 20,
        cacheCreationTokens: 70,
        cacheCreation1hTokens: 40,
      });
    }
  });
});
