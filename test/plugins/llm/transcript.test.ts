import { toTranscript } from '@cinnabar/plugin-llm/dist/transcript/transcript.js';
import { type Turn, wordsOf } from '@cinnabar/plugin-llm/dist/transcript/turns.js';
import type { ParticipantMessage } from '@cinnabar/sdk';
import { expect } from 'chai';
import { ask, from } from './bench.js';

const CACHED = { cacheControl: { type: 'ephemeral' } } as const;
const IMAGE = { type: 'image', source: { type: 'base64', data: 'aGk=', mediaType: 'image/png' } } as const;

function turnsOf(...messages: readonly ParticipantMessage[]): readonly Turn[] {
  return toTranscript(ask(messages), () => undefined).turns;
}

/** A turn in one line: speaker and content. */
function brief(turn: Turn): string {
  if (turn.role === 'assistant')
    return `assistant: ${[wordsOf(turn), ...turn.calls.map(({ id }) => `<${id}>`)].join('')}`;
  const parts = turn.role === 'user' ? turn.parts : turn.results.flatMap((result) => result.parts);
  return `${turn.role}: ${parts.map((part) => (part.type === 'text' ? part.text : '[image]')).join('')}`;
}

const use = (id: string) => ({ type: 'tool_use', id, name: 'get_time', input: { timezone: 'Asia/Tokyo' } }) as const;
const result = (toolUseId: string, content: string) => ({ type: 'tool_result', toolUseId, content }) as const;

describe('llm transcript', () => {
  it('groups people between two turns of the model, each named, and drops the empty completion target', () => {
    const turns = turnsOf(
      from('Alice', "Hey Claude, what's the weather?"),
      from('Bob', 'Yeah I want to know too'),
      from('Cinnabar', 'Sunny.'),
      from('Bob', 'Thanks'),
      from('Cinnabar', ''),
    );
    expect(turns.map(brief)).to.deep.equal([
      "user: Alice: Hey Claude, what's the weather?\nBob: Yeah I want to know too",
      'assistant: Sunny.',
      'user: Bob: Thanks',
    ]);
  });

  it('merges what the model says in a row', () => {
    const turns = turnsOf(from('Alice', 'Hi'), from('Cinnabar', 'One.'), from('Cinnabar', 'Two.'), from('Bob', 'Hm'));
    expect(turns.map(brief)).to.deep.equal(['user: Alice: Hi', 'assistant: One.\nTwo.', 'user: Bob: Hm']);
  });

  it('puts results directly behind their calls, whatever was said in between', () => {
    const turns = turnsOf(
      from('Alice', 'What time is it in Tokyo?'),
      from('Cinnabar', 'Let me look.', use('a'), use('b')),
      from('Bob', 'Late, I guess'),
      from('Cinnabar', result('b', 'B')),
      from('Alice', 'Shh'),
      from('Cinnabar', result('a', 'A')),
      from('Cinnabar', 'It is late.'),
      from('Alice', 'Thanks'),
    );
    expect(turns.map(brief)).to.deep.equal([
      'user: Alice: What time is it in Tokyo?',
      'assistant: Let me look.<a><b>',
      'results: AB',
      'user: Bob: Late, I guess\nAlice: Shh',
      'assistant: It is late.',
      'user: Alice: Thanks',
    ]);
  });

  it('keeps one call after another apart from calls side by side', () => {
    const turns = turnsOf(
      from('Alice', 'go'),
      from('Cinnabar', use('a')),
      from('Cinnabar', result('a', 'A')),
      from('Cinnabar', use('b')),
      from('Cinnabar', result('b', 'B')),
    );
    expect(turns.map(brief)).to.deep.equal([
      'user: Alice: go',
      'assistant: <a>',
      'results: A',
      'assistant: <b>',
      'results: B',
    ]);
  });

  it('gives a call without a result one that says so, and leaves a result without a call out', () => {
    const turns = turnsOf(from('Cinnabar', result('gone', 'old')), from('Alice', 'go'), from('Cinnabar', use('a')));
    expect(turns.map(brief)).to.deep.equal(['user: Alice: go', 'assistant: <a>', 'results: no result recorded']);
    expect(turns[2]).to.have.nested.property('results[0].isError', true);
  });

  it('renames a call whose id another call has already', () => {
    const turns = turnsOf(
      from('Alice', 'go'),
      from('Cinnabar', use('x')),
      from('Cinnabar', result('x', 'first')),
      from('Cinnabar', use('x')),
      from('Cinnabar', result('x', 'second')),
    );
    expect(turns.map(brief)).to.deep.equal([
      'user: Alice: go',
      'assistant: <x>',
      'results: first',
      'assistant: <call_1>',
      'results: second',
    ]);
  });

  it('starts and ends with people, also when the model spoke first or last, or nobody did', () => {
    expect(turnsOf(from('Cinnabar', 'Welcome!')).map(brief)).to.deep.equal([
      'user: (What was said before is not shown.)',
      'assistant: Welcome!',
      'user: (Nobody has spoken since. It is your turn.)',
    ]);
    expect(turnsOf().map(brief)).to.deep.equal(['user: (Nobody has spoken since. It is your turn.)']);
  });

  it('keeps images beside the words of their author', () => {
    const turns = turnsOf(from('Alice', 'before', IMAGE, 'after'), from('Bob', IMAGE), from('Alice', 'nice'));
    expect(turns.map(brief)).to.deep.equal(['user: Alice: before[image]\n  after\nBob:[image]\nAlice: nice']);
  });

  it('gives each message a part of its own where prefixes are cached, so that none changes when the mark moves on', () => {
    const said = [from('Alice', 'one'), from('Bob', 'two'), from('Alice', 'three')];
    const marked = (at: number) => said.map((message, index) => (index === at ? { ...message, ...CACHED } : message));
    const [early] = turnsOf(...marked(1).slice(0, 2));
    const [later] = turnsOf(...marked(2));
    const cache = CACHED.cacheControl;
    expect(early).to.deep.equal({
      role: 'user',
      parts: [
        { type: 'text', text: 'Alice: one' },
        { type: 'text', text: '\nBob: two', cache },
      ],
    });
    expect(later).to.deep.equal({
      role: 'user',
      parts: [
        { type: 'text', text: 'Alice: one' },
        { type: 'text', text: '\nBob: two' },
        { type: 'text', text: '\nAlice: three', cache },
      ],
    });
  });

  it("keeps a mark on the model's own words and on results", () => {
    const turns = turnsOf(
      from('Alice', 'go'),
      from('Cinnabar', use('a')),
      { ...from('Cinnabar', result('a', 'A')), ...CACHED },
      { ...from('Cinnabar', 'Done.'), ...CACHED },
      from('Alice', 'ok'),
    );
    const cache = CACHED.cacheControl;
    expect(turns.slice(1, 4)).to.deep.equal([
      {
        role: 'assistant',
        texts: [],
        calls: [{ id: 'a', name: 'get_time', input: { timezone: 'Asia/Tokyo' } }],
        cache: undefined,
      },
      { role: 'results', results: [{ id: 'a', parts: [{ type: 'text', text: 'A' }], isError: false }], cache },
      { role: 'assistant', texts: [{ type: 'text', text: 'Done.', cache }], calls: [], cache: undefined },
    ]);
  });
});
