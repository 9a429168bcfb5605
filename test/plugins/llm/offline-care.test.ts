import { createTestHost, type TestHost } from '@cinnabar/core/testing';
import { Llm, type ModelTool, Tools } from '@cinnabar/sdk';
import { expect } from 'chai';
import fc from 'fast-check';
import { readBy } from './offline-model.js';

/** Names, numbers and modifiers: any of them in a sentence has to be in the call. */
const NAMES = ['V', 'Panam', 'Jackie', 'Will', 'Johnny Silverhand', 'Ko', 'Solo', 'Netrunner'];
const NUMBERS = ['3', '-7', '12.5', '1,000', '50%', '7th'];
const OPERATORS = ['+', '*', '/', '^', '%', '(', ')', '12 * (3+4)', '(1+2)*3', '2^10', '3 plus 4', '5!'];
const JOINTS = [' ', ', ', ' and ', ' but not ', ' or ', '; ', '. ', ' - ', ', a ', ' who likes '];
const AROUND = ['', 'please ', 'could you ', '3 ', 'not ', 'Panam, ', '(', '+ ', 'to '];

describe('llm offline: makes no call rather than a wrong one', () => {
  let host: TestHost;
  let tools: readonly ModelTool[] = [];
  before(async () => {
    host = await createTestHost({ plugins: ['llm', 'party', 'tasks', 'ai'] });
    tools = await host
      .resolve(Tools)
      .offered({ userId: host.you.id, guildId: host.guild.id, channelId: host.general.id });
  });
  after(() => host[Symbol.asyncDispose]());
  const reading = (said: string) => readBy(host.resolve(Llm), said, tools);
  const read = async (said: string) => (await reading(said)).calls.map(({ name, input }) => ({ [name]: input }));

  const nothing = [
    'Add V, Panam and Jackie to my party',
    "Add V and Panam to my party, they're Solos",
    "Add V to my party, he's a Solo but don't tell Panam",
    "Add V to my party, he's not a Solo",
    "Add V to my party, he's a Solo. Then remove Panam from my party",
    'Add Johnny Silverhand to my party',
    'remove V and Panam from my party',
    'remove everyone except V from my party',
    'what is the weather?',
    'what is the answer to question 5?',
    'what is 3 plus 4?',
    'make me a sandwich',
    'this is a mess now',
    'read the book',
  ];
  for (const said of nothing) it(`makes nothing of "${said}"`, async () => expect(await read(said)).to.deep.equal([]));

  const something: readonly (readonly [string, object])[] = [
    ['calculate 12 * (3+4)', { calculate: { expression: '12 * (3+4)' } }],
    ['what is (1+2)*(3-4)?', { calculate: { expression: '(1+2)*(3-4)' } }],
    ['calculate - 5 + 2', { calculate: { expression: '- 5 + 2' } }],
    ['how much is sqrt(2)?', { calculate: { expression: 'sqrt(2)' } }],
    [
      'add "V, the one and only" to my party, she\'s a Solo',
      { add_party_character: { name: 'V, the one and only', role: 'Solo' } },
    ],
    ['add V (Solo) to my party', { add_party_character: { name: 'V', role: 'Solo' } }],
    ['add V to my party as a *Solo*', { add_party_character: { name: 'V', role: 'Solo' } }],
    ['add V to my party as a * Solo *', { add_party_character: { name: 'V', role: '* Solo *' } }],
    ['Add Will to my party as a Fixer, please!', { add_party_character: { name: 'Will', role: 'Fixer' } }],
    ['read https://example.com/a(b)?c=1,2', { fetch_url: { url: 'https://example.com/a(b)?c=1,2' } }],
  ];
  for (const [said, call] of something)
    it(`takes "${said}" whole`, async () => expect(await read(said)).to.deep.equal([call]));

  it('says which part of a sentence could mean more than one thing', async () => {
    const { text } = await reading("Add V and Panam to my party, they're Solos");
    expect(text).to.include('is “V and Panam” one NAME?');
  });

  it('offers nothing that needs a language model', () => {
    const names = tools.map(({ name }) => name);
    expect(names).to.include.members(['add_party_character', 'calculate']);
    expect(names).to.not.include.members(['recommend_gear', 'start_task', 'schedule_follow_up']);
    for (const name of ['recommend_gear', 'start_task', 'schedule_follow_up']) expect(names).to.not.include(name);
  });

  it('keeps every number, name and operator of a sentence that it turns into a call', async () => {
    const telling = fc.constantFrom(...NAMES, ...NUMBERS, ...OPERATORS);
    const value = fc
      .tuple(telling, fc.array(fc.tuple(fc.constantFrom(...JOINTS), telling), { maxLength: 2 }))
      .map(([first, more]) => ({
        text: first + more.map(([joint, next]) => joint + next).join(''),
        told: [first, ...more.map(([, next]) => next)],
      }));
    const around = fc.constantFrom(...AROUND);
    const end = fc.constantFrom('', '.', ' please', ' now', ' Will', ' 3', ' (soon)', ' *', ' and Panam');
    const examples = tools.flatMap((tool) => (tool.examples ?? []).filter((example) => example.includes('{')));
    let calls = 0;
    await fc.assert(
      fc.asyncProperty(
        fc.constantFrom(...examples),
        fc.array(value, { minLength: 4, maxLength: 4 }),
        around,
        end,
        async (example, values, start, tail) => {
          let next = 0;
          const used: string[] = [start, tail];
          const body = example.replace(/\{\w+\}/g, () => {
            const { text, told } = values[next++] ?? { text: '', told: [] };
            used.push(...told);
            return text;
          });
          const said = `${start}${body}${tail}`;
          for (const { input } of (await reading(said)).calls) {
            calls += 1;
            const given = Object.values(Object(input)).flat().join('\n');
            for (const sign of used.flatMap((text) => text.match(/\d+|[A-Z]\w*|[+*/^%()!]/g) ?? [])) {
              expect(given.replaceAll(',', ''), `${said} → ${JSON.stringify(input)}`).to.include(sign);
            }
          }
        },
      ),
      { numRuns: 400 },
    );
    expect(calls).to.be.greaterThan(5);
  });
});
