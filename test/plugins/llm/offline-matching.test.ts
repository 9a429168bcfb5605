import type { ModelTool } from '@cinnabar/sdk';
import { expect } from 'chai';
import fc from 'fast-check';
import { anyCharacter } from '../../support/any-character.js';
import { cpuMsOf } from '../../support/cpu-time.js';
import { DICE } from './harness.js';
import { openOffline, readBy } from './offline-model.js';

function tool(
  name: string,
  properties: object,
  examples: readonly string[],
  required: readonly string[] = [],
): ModelTool {
  return { name, description: `The tool ${name}.`, inputSchema: { type: 'object', properties, required }, examples };
}
const TEXT = { type: 'string' };
const LIST = { type: 'array', items: TEXT };

const JOIN = tool('join', { name: TEXT, role: TEXT, likes: LIST }, [
  "add {name} to my party, he's a {role}",
  'add {name} to the party as a {role}',
  "add {name} to my party, he's a {role} who likes {likes}",
]);
const LEAVE = tool('leave', { name: TEXT }, ['remove {name} from my party']);
const SHOW = tool('show', {}, ['who is in my party?', 'show my party']);
const TOOLS = [JOIN, LEAVE, SHOW, DICE];

describe('llm offline: matching', () => {
  let model: Awaited<ReturnType<typeof openOffline>>;
  before(async () => {
    model = await openOffline();
  });
  after(() => model[Symbol.asyncDispose]());

  /** The call that the offline model makes for an utterance: `tool {arguments}`. */
  async function read(said: string, tools: readonly ModelTool[] = TOOLS): Promise<readonly string[]> {
    return (await readBy(model.llm, said, tools)).calls.map(({ name, input }) => {
      const sorted = Object.fromEntries(Object.entries(Object(input)).sort(([a], [b]) => a.localeCompare(b)));
      return `${name} ${JSON.stringify(sorted)}`;
    });
  }

  const vSolo = ['join {"name":"V","role":"Solo"}'];
  const readings: readonly (readonly [said: string, meant: readonly string[]])[] = [
    ["Add V to my party, he's a Solo", vSolo],
    ["Add V to my party, he's a Solo.", vSolo],
    ['add "V" to my party, he’s a “Solo”!', vSolo],
    ["ADD V TO MY PARTY HE'S A Solo", vSolo],
    ['add V to the party, hes a Solo', vSolo],
    ["ad V to my prty, he's Solo", vSolo],
    ["Cinnabar, could you please add V to my party, she's a Solo? Thanks!", vSolo],
    ["<@4711> add V to my party, he's a Solo", vSolo],
    [
      'please add Johnny Silverhand to the party as a Rockerboy',
      ['join {"name":"Johnny Silverhand","role":"Rockerboy"}'],
    ],
    [
      "Add V to my party, he's a Solo who likes assault rifles, body armor and a katana",
      ['join {"likes":["assault rifles","body armor","katana"],"name":"V","role":"Solo"}'],
    ],
    ["remove Johnny's mum from my party", ['leave {"name":"Johnny\'s mum"}']],
    ["who's in the party", ['show {}']],
    ['whos in my party', ['show {}']],
    ['roll 3 dice with 20 sides', ['roll_dice {"sides":20,"times":3}']],
    ['roll two dice with 1,000 sides', ['roll_dice {"sides":1000,"times":2}']],
    ['roll some dice with many sides', []],
    ["don't add V to my party, he's a Solo", []],
    ['add V', []],
    ['hello there', []],
    ['', []],
  ];
  for (const [said, meant] of readings) {
    it(`reads ${JSON.stringify(said)} as ${meant.join() || 'nothing'}`, async () => {
      expect(await read(said)).to.deep.equal(meant);
    });
  }

  it('fills choices, switches, optional numbers and what may be null', async () => {
    const paint = tool(
      'paint',
      {
        colour: { type: 'string', enum: ['Crimson', 'Azure'] },
        coats: { anyOf: [{ type: 'integer' }, { type: 'null' }] },
        gloss: { type: 'boolean' },
        width: { type: ['number', 'null'] },
      },
      ['paint it {colour} with {coats} coats, gloss {gloss}, {width} wide'],
    );
    expect(await read('paint it crimsn with 2 coats, gloss on, 2.5 wide', [paint])).to.deep.equal([
      'paint {"coats":2,"colour":"Crimson","gloss":true,"width":2.5}',
    ]);
    expect(await read('paint it green with 2 coats, gloss on, 2.5 wide', [paint])).to.deep.equal([]);
    expect(await read('paint it azure with 2.5 coats, gloss on, 2 wide', [paint])).to.deep.equal([]);
  });

  it('separates slots that stand side by side by the comma between them', async () => {
    const pair = tool('pair', { one: TEXT, other: TEXT }, ['pair up {one}, {other}']);
    expect(await read('pair up Johnny Silverhand, Judy Alvarez', [pair])).to.deep.equal([
      'pair {"one":"Johnny Silverhand","other":"Judy Alvarez"}',
    ]);
  });

  it('calls nothing without an argument that the tool demands', async () => {
    const strict = tool('strict', { a: TEXT, b: TEXT }, ['do {a}'], ['a', 'b']);
    expect(await read('do it', [strict])).to.deep.equal([]);
  });

  it('prefers the example that explains more, and a right word to a near one', async () => {
    const greedy = tool('greedy', { anything: TEXT }, ['add {anything}']);
    const dices = tool('dices', {}, ['show my parts']);
    expect(await read("add V to my party, he's a Solo", [greedy, ...TOOLS])).to.deep.equal(vSolo);
    expect(await read('show my party', [dices, ...TOOLS])).to.deep.equal(['show {}']);
  });

  it('never chooses between tools that fit equally well', async () => {
    const other = tool('kick', { who: TEXT }, ['remove {who} from the party']);
    const { calls, text } = await readBy(model.llm, 'remove V from my party', [other, ...TOOLS]);
    expect(calls).to.deep.equal([]);
    const offered = text.split('\n').filter((line) => line.startsWith('- '));
    expect(offered).to.have.members([
      '- remove WHO from the party (The tool kick)',
      '- remove NAME from my party (The tool leave)',
    ]);
  });

  it('does not let examples of small words and slots alone match', async () => {
    expect(await read('he is a Solo', [tool('any', { x: TEXT, y: TEXT }, ['{x} is a {y}'])])).to.deep.equal([]);
  });

  const slotWord = fc
    .string({ unit: fc.constantFrom(...'bcfghjkqwxz'), minLength: 1, maxLength: 8 })
    .map((word) => word.toUpperCase());
  const slotText = fc.array(slotWord, { minLength: 1, maxLength: 4 }).map((words) => words.join(' '));

  it('returns what the slots of an example were filled with', async () => {
    const examples = fc.constantFrom(...(JOIN.examples ?? []).slice(0, 2));
    await fc.assert(
      fc.asyncProperty(examples, slotText, slotText, async (example, name, role) => {
        const said = example.replace('{name}', () => name).replace('{role}', () => role);
        expect(await read(said)).to.deep.equal([`join ${JSON.stringify({ name, role })}`]);
      }),
      { numRuns: 250 },
    );
  });

  it('survives any text, in bounded time', async () => {
    const words = fc.constantFrom(
      'add',
      'V',
      'to',
      'my',
      'party,',
      "he's",
      'a',
      'please',
      '"',
      '...',
      '{name}',
      '\n',
      '’s',
      ',,,,',
    );
    const any = fc.oneof(
      fc.string({ unit: anyCharacter, maxLength: 300 }),
      fc.array(words, { maxLength: 80 }).map((all) => all.join(' ')),
    );
    await fc.assert(
      fc.asyncProperty(any, async (said) => void (await read(said))),
      { numRuns: 60 },
    );
  });

  for (const [what, said] of [
    ['one word', 'a'.repeat(4000)],
    ['one word repeated', 'add '.repeat(1000)],
    ['punctuation', '"\','.repeat(1333)],
    ['almost an example', `add ${'to my party, '.repeat(300)}`],
    ['commas between letters', 'a,'.repeat(2000)],
    ['joiners', '\u200d’'.repeat(2000)],
  ] as const) {
    it(`reads 4,000 characters of ${what} against 60 examples in well under a second`, async () => {
      const many = Array.from({ length: 20 }, (_, index) => ({ ...JOIN, name: `join${index}` }));
      const spentMs = () => cpuMsOf(() => read(said, many));
      // Other load on the machine slows some runs down.
      expect(Math.min(await spentMs(), await spentMs(), await spentMs())).to.be.below(800);
    });
  }
});
