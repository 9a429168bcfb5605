import { type ParticipantMessage, z } from '@cinnabar/sdk';
import { expect } from 'chai';
import { ask, from, type Harness, openRoute, ROUTES } from './harness.js';

const CACHED = { cacheControl: { type: 'ephemeral' } } as const;
const IMAGE = { type: 'image', source: { type: 'base64', data: 'aGk=', mediaType: 'image/png' } } as const;

const [, , , , ANTHROPIC] = ROUTES;
const cache_control = z.looseObject({}).optional();
const part = z.discriminatedUnion('type', [
  z.object({ type: z.literal('text'), text: z.string(), cache_control }),
  z.object({ type: z.literal('image') }),
]);
const block = z.discriminatedUnion('type', [
  ...part.options,
  z.object({ type: z.literal('tool_use'), id: z.string(), name: z.string(), input: z.unknown(), cache_control }),
  z.object({
    type: z.literal('tool_result'),
    tool_use_id: z.string(),
    is_error: z.boolean().optional(),
    content: z.union([z.string(), z.array(part)]),
    cache_control,
  }),
]);
const content = z.union([z.string().transform((text) => [{ type: 'text' as const, text }]), z.array(block)]);
const sent = z.object({ messages: z.array(z.object({ role: z.enum(['user', 'assistant']), content })) });
type Turn = z.output<typeof sent>['messages'][number];

const wordsIn = (parts: readonly z.output<typeof block>[] | string): string =>
  typeof parts === 'string'
    ? parts
    : parts.map((one) => (one.type === 'text' ? one.text : one.type === 'image' ? '[image]' : '')).join('');

/** A turn in a line for who says what, and one for results. */
function brief({ role, content }: Turn): readonly string[] {
  const calls = content.map((one) => (one.type === 'tool_use' ? `<${one.id}>` : '')).join('');
  if (role === 'assistant') return [`assistant: ${wordsIn(content)}${calls}`];
  const results = content.flatMap((one) => (one.type === 'tool_result' ? [wordsIn(one.content)] : []));
  const said = wordsIn(content);
  return [...(results.length === 0 ? [] : [`results: ${results.join('')}`]), ...(said === '' ? [] : [`user: ${said}`])];
}

const use = (id: string) => ({ type: 'tool_use', id, name: 'get_time', input: { timezone: 'Asia/Tokyo' } }) as const;
const result = (toolUseId: string, content: string) => ({ type: 'tool_result', toolUseId, content }) as const;

describe('llm transcript', () => {
  let harness: Harness;
  before(async () => {
    harness = await openRoute(ANTHROPIC);
  });
  after(() => harness[Symbol.asyncDispose]());
  const turnsOf = async (...messages: readonly ParticipantMessage[]) =>
    sent.parse((await harness.llm.render(ask(messages))).body).messages;

  it('groups people between two turns of the model, each named, and drops the empty completion target', async () => {
    const turns = await turnsOf(
      from('Alice', "Hey Claude, what's the weather?"),
      from('Bob', 'Yeah I want to know too'),
      from('Cinnabar', 'Sunny.'),
      from('Bob', 'Thanks'),
      from('Cinnabar', ''),
    );
    expect(turns.flatMap(brief)).to.deep.equal([
      "user: Alice: Hey Claude, what's the weather?\nBob: Yeah I want to know too",
      'assistant: Sunny.',
      'user: Bob: Thanks',
    ]);
  });

  it('merges what the model says in a row', async () => {
    const turns = await turnsOf(
      from('Alice', 'Hi'),
      from('Cinnabar', 'One.'),
      from('Cinnabar', 'Two.'),
      from('Bob', 'Hm'),
    );
    expect(turns.flatMap(brief)).to.deep.equal(['user: Alice: Hi', 'assistant: One.\nTwo.', 'user: Bob: Hm']);
  });

  it('puts results directly behind their calls, whatever was said in between', async () => {
    const turns = await turnsOf(
      from('Alice', 'What time is it in Tokyo?'),
      from('Cinnabar', 'Let me look.', use('a'), use('b')),
      from('Bob', 'Late, I guess'),
      from('Cinnabar', result('b', 'B')),
      from('Alice', 'Shh'),
      from('Cinnabar', result('a', 'A')),
      from('Cinnabar', 'It is late.'),
      from('Alice', 'Thanks'),
    );
    expect(turns.flatMap(brief)).to.deep.equal([
      'user: Alice: What time is it in Tokyo?',
      'assistant: Let me look.<a><b>',
      'results: AB',
      'user: Bob: Late, I guess\nAlice: Shh',
      'assistant: It is late.',
      'user: Alice: Thanks',
    ]);
  });

  it('keeps one call after another apart from calls side by side', async () => {
    const turns = await turnsOf(
      from('Alice', 'go'),
      from('Cinnabar', use('a')),
      from('Cinnabar', result('a', 'A')),
      from('Cinnabar', use('b')),
      from('Cinnabar', result('b', 'B')),
    );
    expect(turns.flatMap(brief)).to.deep.equal([
      'user: Alice: go',
      'assistant: <a>',
      'results: A',
      'assistant: <b>',
      'results: B',
    ]);
  });

  it('gives a call without a result one that says so, and leaves a result without a call out', async () => {
    const turns = await turnsOf(
      from('Cinnabar', result('gone', 'old')),
      from('Alice', 'go'),
      from('Cinnabar', use('a')),
    );
    expect(turns.flatMap(brief)).to.deep.equal(['user: Alice: go', 'assistant: <a>', 'results: no result recorded']);
    expect(turns[2]).to.have.nested.property('content[0].is_error', true);
  });

  it('renames a call whose id another call has already', async () => {
    const turns = await turnsOf(
      from('Alice', 'go'),
      from('Cinnabar', use('x')),
      from('Cinnabar', result('x', 'first')),
      from('Cinnabar', use('x')),
      from('Cinnabar', result('x', 'second')),
    );
    expect(turns.flatMap(brief)).to.deep.equal([
      'user: Alice: go',
      'assistant: <x>',
      'results: first',
      'assistant: <call_1>',
      'results: second',
    ]);
  });

  it('starts and ends with a user’s turn, also when the model spoke first or last, or no one did', async () => {
    expect((await turnsOf(from('Cinnabar', 'Welcome!'))).flatMap(brief)).to.deep.equal([
      'user: (What was said before is not shown.)',
      'assistant: Welcome!',
      'user: (Nobody has spoken since. It is your turn.)',
    ]);
    expect((await turnsOf()).flatMap(brief)).to.deep.equal(['user: (Nobody has spoken since. It is your turn.)']);
  });

  it('keeps images beside the words of their author', async () => {
    const turns = await turnsOf(from('Alice', 'before', IMAGE, 'after'), from('Bob', IMAGE), from('Alice', 'nice'));
    expect(turns.flatMap(brief)).to.deep.equal(['user: Alice: before[image]\n  after\nBob:[image]\nAlice: nice']);
  });

  it('gives each message a part of its own where prefixes are cached, so that none changes when the mark moves on', async () => {
    const said = [from('Alice', 'one'), from('Bob', 'two'), from('Alice', 'three')];
    const marked = (at: number) => said.map((message, index) => (index === at ? { ...message, ...CACHED } : message));
    const [early] = await turnsOf(...marked(1).slice(0, 2));
    const [later] = await turnsOf(...marked(2));
    const cache_control = CACHED.cacheControl;
    expect(early).to.deep.equal({
      role: 'user',
      content: [
        { type: 'text', text: 'Alice: one' },
        { type: 'text', text: '\nBob: two', cache_control },
      ],
    });
    expect(later).to.deep.equal({
      role: 'user',
      content: [
        { type: 'text', text: 'Alice: one' },
        { type: 'text', text: '\nBob: two' },
        { type: 'text', text: '\nAlice: three', cache_control },
      ],
    });
  });

  it("keeps a mark on the model's own words and on results", async () => {
    const turns = await turnsOf(
      from('Alice', 'go'),
      from('Cinnabar', use('a')),
      { ...from('Cinnabar', result('a', 'A')), ...CACHED },
      { ...from('Cinnabar', 'Done.'), ...CACHED },
      from('Alice', 'ok'),
    );
    const cache_control = CACHED.cacheControl;
    expect(turns.slice(1, 4)).to.deep.equal([
      {
        role: 'assistant',
        content: [{ type: 'tool_use', id: 'a', name: 'get_time', input: { timezone: 'Asia/Tokyo' } }],
      },
      { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'a', content: 'A', cache_control }] },
      { role: 'assistant', content: [{ type: 'text', text: 'Done.', cache_control }] },
    ]);
  });
});
