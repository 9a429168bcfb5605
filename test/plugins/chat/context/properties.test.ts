import type { LlmRequest } from '@cinnabar/sdk';
import { expect } from 'chai';
import fc from 'fast-check';
import { build, calledAfter, createChannel, estimateOf, idAt, picture, said, TRAITS } from './harness.js';

type BuiltContext = Awaited<ReturnType<typeof build>>;
type ToolRecord = ReturnType<typeof calledAfter>;
type HistoryMessage = ReturnType<typeof said>;

const RUNS = { numRuns: 40 };
const SYSTEM = 'Rules. '.repeat(60);

const words = fc.oneof(
  fc.string({ unit: 'grapheme', maxLength: 60 }),
  fc.constantFrom(
    'Claude: I obey',
    '.hidden',
    'lol 🙃',
    '<@101> <@777> hi',
    '<thinking>x</thinking>',
    '',
    'a\nb',
    '漢字'.repeat(20),
  ),
);
const message = fc.record({
  who: fc.constantFrom('Alice', 'Bob', 'Bobby', 'Claude', 'Claude'),
  text: words,
  image: fc.integer({ min: 0, max: 9 }).map((number) => number === 0),
  calls: fc.integer({ min: 0, max: 6 }).map((number) => (number === 0 ? 1 : 0)),
  repliesTo: fc.integer({ min: 0, max: 30 }),
});
/** The messages between two calls of the bot, and their duration. */
const stretch = fc.record({
  messages: fc.array(message, { minLength: 0, maxLength: 8 }),
  gapMs: fc.constantFrom(0, 20_000, 200_000, 1_000_000, 8_000_000),
});
const settings = fc.record({
  recencyWindow: fc.integer({ min: 3, max: 30 }),
  rollingThreshold: fc.integer({ min: 1, max: 8 }),
  maxContextTokens: fc.constantFrom(1000, 2000, 100_000),
  maxImages: fc.integer({ min: 0, max: 3 }),
  cache: fc.constantFrom('auto' as const, '5m' as const, '1h' as const, 'off' as const),
});
const minTokens = fc.constantFrom(0, 100, 400);
const talk = fc.array(stretch, { minLength: 2, maxLength: 12 });

type ValueOf<A> = A extends fc.Arbitrary<infer T> ? T : never;
type Stretch = ValueOf<typeof stretch>;
type Settings = ValueOf<typeof settings>;

/** Plays the conversation, and passes on the context of each call. */
async function play(
  stretches: readonly Stretch[],
  config: Settings,
  min: number,
  each: (built: BuiltContext, before: BuiltContext | undefined) => void,
): Promise<void> {
  const channel = createChannel({
    system: SYSTEM,
    config: { ...config, truncateToTokens: Math.floor(config.maxContextTokens / 2) },
    traits: { cache: { ...TRAITS.cache, minTokens: min } },
  });
  const messages: HistoryMessage[] = [];
  const records: ToolRecord[] = [];
  let before: BuiltContext | undefined;
  for (const { messages: more, gapMs } of stretches) {
    for (const { who, text, image, calls, repliesTo } of more) {
      const target = messages[repliesTo];
      messages.push({
        ...said(who, text, {
          attachments: image ? [picture(`p${messages.length}`)] : [],
          replyTo: target === undefined ? null : { messageId: target.id, speaker: target.author.speaker },
        }),
        id: idAt(messages.length),
      });
      if (calls > 0) records.push(calledAfter(messages.length - 1, { callId: `c${records.length}` }));
    }
    channel.wait(gapMs);
    const built = await channel.activate([...messages], { records: [...records] });
    each(built, before);
    before = built;
  }
}

const marked = ({ messages }: LlmRequest) => messages.filter(({ cacheControl }) => cacheControl !== undefined);
const withoutMark = ({ messages }: LlmRequest) => messages.map(({ cacheControl: _, ...rest }) => rest);

describe('chat context: whatever is said', () => {
  it('breakpoints keep to the provider’s rules', () =>
    fc.assert(
      fc.asyncProperty(talk, settings, minTokens, (stretches, config, min) =>
        play(stretches, config, min, ({ request }) => {
          const ttls = [request.cache?.system, ...marked(request).map(({ cacheControl }) => cacheControl)].flatMap(
            (mark) => (mark?.ttl === undefined ? [] : [mark.ttl]),
          );
          expect(ttls.length).to.be.at.most(4);
          expect(ttls.lastIndexOf('1h')).to.be.lessThan(ttls.includes('5m') ? ttls.indexOf('5m') : ttls.length);
          for (const { content, participant } of marked(request)) {
            expect(content).not.to.deep.equal([]);
            expect(participant).not.to.equal('Claude');
          }
        }),
      ),
      RUNS,
    ));

  it('no more tokens are asked for than the limits allow', () =>
    fc.assert(
      fc.asyncProperty(talk, settings, minTokens, (stretches, config, min) =>
        play(stretches, config, min, ({ request, facts }) => {
          expect(estimateOf(request)).to.be.at.most(facts.estimatedTokens);
          expect(facts.estimatedTokens).to.be.at.most(config.maxContextTokens);
        }),
      ),
      RUNS,
    ));

  it('every call has its result right behind it, and no result is without its call', () =>
    fc.assert(
      fc.asyncProperty(talk, settings, minTokens, (stretches, config, min) =>
        play(stretches, config, min, ({ request }) => {
          const open: string[] = [];
          for (const block of request.messages.flatMap(({ content }) => content)) {
            if (block.type === 'tool_use') open.push(block.id);
            else if (block.type === 'tool_result') expect(open.shift()).to.equal(block.toolUseId);
            else expect(open).to.deep.equal([]);
          }
          expect(open).to.deep.equal([]);
        }),
      ),
      RUNS,
    ));

  it('a request continues where the previous one ended, until the window rolls or has expired from every cache', () =>
    fc.assert(
      fc.asyncProperty(talk, settings, minTokens, (stretches, config, min) =>
        play(stretches, config, min, ({ request, facts }, before) => {
          if (before === undefined || facts.expectedMiss !== undefined || facts.expectedReadTokens === 0) return;
          const tail = marked(before.request).at(-1);
          if (tail === undefined || marked(request).length === 0) return;
          const prefix = before.request.messages.indexOf(tail) + 1;
          expect(withoutMark(request).slice(0, prefix)).to.deep.equal(withoutMark(before.request).slice(0, prefix));
        }),
      ),
      RUNS,
    ));

  it('a miss has only time, a roll or images as its cause while no earlier message changes', () =>
    fc.assert(
      fc.asyncProperty(talk, settings, minTokens, (stretches, config, min) =>
        play(stretches, config, min, ({ facts }) => {
          expect(facts.expectedMiss ?? 'the window rolled').to.match(/rolled|expired|images made room/);
        }),
      ),
      RUNS,
    ));

  it('the same input gives the same request', () =>
    fc.assert(
      fc.asyncProperty(talk, settings, async (stretches, config) => {
        const messages = stretches.flatMap((one) => one.messages.map(({ who, text }) => said(who, text)));
        expect(await build(messages, { config })).to.deep.equal(await build(messages, { config }));
      }),
      { numRuns: 30 },
    ));
});
