import { Llm, Tools } from '@cinnabar/sdk';
import { expect } from 'chai';
import { openTable } from './table.js';

const add = (name: string, role: string, gear?: readonly string[]) => ({
  add_party_character: gear === undefined ? { name, role } : { name, role, gear_preferences: gear },
});
const remove = (name: string) => ({ remove_party_character: { name } });
const view = { view_party_members: {} };
const loot = (loot_description: string, excluded?: readonly string[]) => ({
  recommend_gear: excluded === undefined ? { loot_description } : { loot_description, excluded_characters: excluded },
});

const PHRASES = [
  ["Add V to my party, he's a Solo", add('V', 'Solo')],
  ['Add V to my party, he’s a Solo', add('V', 'Solo')],
  ["add T-Bug to my party, she's a Netrunner", add('T-Bug', 'Netrunner')],
  ["please add Rogue to the party, they're a Fixer", add('Rogue', 'Fixer')],
  ['Add Jackie Welles to my party as a Solo', add('Jackie Welles', 'Solo')],
  ["Add V to my party. He's a Solo", add('V', 'Solo')],
  [
    "Add Judy to my party, she's a Techie who likes Cyberware and Body Armor",
    add('Judy', 'Techie', ['Cyberware', 'Body Armor']),
  ],
  ["Add V to my party, he's a Solo, prefers Assault Rifles", add('V', 'Solo', ['Assault Rifles'])],
  ['Who is in my party?', view],
  ['show my party', view],
  ['list my party members', view],
  ['remove V from my party', remove('V')],
  ['Kick Jackie out of the party!', remove('Jackie')],
  ['We got an Assault Rifle and 2 SMGs, who should get what?', loot('an Assault Rifle and 2 SMGs')],
  ['distribute Assault Rifle, Body Armor, Neural Processor', loot('Assault Rifle, Body Armor, Neural Processor')],
  ['distribute 2 SMGs, but not to V and Jackie', loot('2 SMGs', ['V', 'Jackie'])],
] as const;

describe('requests about the party without a language model', () => {
  it('is understood from the tools’ examples', async () => {
    await using table = await openTable(['llm']);
    const tools = table.host.resolve(Tools).list();
    for (const [text, understood] of PHRASES) {
      const { content } = await table.host.resolve(Llm).complete({
        charge: { actor: { userId: '1', guildId: null, channelId: '2' }, responder: 'test', trigger: 'I was tested' },
        self: 'Cinnabar',
        messages: [{ participant: 'alice', content: [{ type: 'text', text }] }],
        tools,
      });
      const calls = content.flatMap((block) => (block.type === 'tool_use' ? [{ [block.name]: block.input }] : []));
      expect(calls, text).to.deep.equal([understood]);
    }
  });
});
