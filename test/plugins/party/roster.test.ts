import type { LocalUser } from '@cinnabar/local-discord';
import { expect } from 'chai';
import fc from 'fast-check';
import { openTable, type Table } from './table.js';

describe('party roster', () => {
  let table: Table;
  let player: LocalUser;
  let players = 0;
  before(async () => {
    table = await openTable();
  });
  after(() => table[Symbol.asyncDispose]());
  /** Each user has a separate party. */
  const newPlayer = () => {
    player = table.host.discord.createUser({ name: `player${++players}` });
    table.host.guild.join(player);
  };
  beforeEach(newPlayer);

  const add = (name: string, role = 'Solo', gear_preferences: readonly string[] = []) =>
    table.call('add_party_character', { name, role, gear_preferences }, { user: player });
  const remove = (name: string) => table.call('remove_party_character', { name }, { user: player });
  const view = () => table.call('view_party_members', {}, { user: player });
  /** `Name – Role`, as in the bot's list. */
  const listed = async () =>
    [...(await view()).matchAll(/^• \*\*(.*)\*\* – (.*) \(Gear/gm)].map(([, name, role]) => `${name} – ${role}`);

  it('adds a new character at the end', async () => {
    await add('V');
    await add('Jackie');
    expect(await listed()).to.deep.equal(['V – Solo', 'Jackie – Solo']);
  });

  for (const [there, typed] of [
    ['Zoë', 'zoe\u0308'],
    ['T-Bug', 't-BUG'],
    ['Johnny Silverhand', ' johnny   silverhand '],
    ['V', 'Ｖ'],
    ['V', 'V\u200b'],
    ['Straße', 'STRASSE'],
  ] as const) {
    it(`takes "${typed}" for "${there}", and keeps the name as it was typed first`, async () => {
      await add(there);
      await add('Other');
      await add(typed, 'Fixer');
      expect(await listed()).to.deep.equal([`${there} – Fixer`, 'Other – Solo']);
      await remove(typed);
      expect(await listed()).to.deep.equal(['Other – Solo']);
    });
  }

  it('an update changes role and gear preferences, even in a full party', async () => {
    for (let index = 0; index < 50; index += 1) await add(`N${index}`, 'Solo', ['Armor']);
    await add('n3', 'Nomad');
    expect((await view()).split('\n')[4]).to.equal('• **N3** – Nomad (Gear Preferences: None)');
    expect(await add('one more')).to.include('at most 50 members');
    expect(await listed()).to.have.length(50);
  });

  it('says which limit is passed', async () => {
    expect(await add('x'.repeat(101))).to.include('at most 100 characters; this one has 101');
    expect(await add(' \u200b')).to.include('needs a name');
    expect(await add('V', ' ')).to.include('needs a role');
    expect(await add('V', 'x'.repeat(201))).to.include('A role has at most 200');
    expect(await add('V', 'Solo', Array.from({ length: 21 }, String))).to.include('at most 20');
    expect(await add('V', 'Solo', ['x'.repeat(101)])).to.include('at most 100');
    expect(await view()).to.match(/^Your party is empty\./);
  });

  it('removing someone who is not there names the nearest', async () => {
    expect(await remove('V')).to.include('nobody in the party');
    await add('Jackie');
    await add('V');
    expect(await remove('Jacky')).to.include('nobody called Jacky in the party. Did you mean Jackie?');
    expect(await remove('Adam Smasher')).to.match(/in the party\.$/);
  });

  it('is listed with role and gear preferences, None where there are none', async () => {
    await add('V', 'Solo', ['Assault Rifles', 'Body Armor']);
    await add('Jackie');
    expect(await view()).to.equal(
      '👥 Your party (2)\n• **V** – Solo (Gear Preferences: Assault Rifles, Body Armor)\n• **Jackie** – Solo (Gear Preferences: None)',
    );
    await table.configure('owner', 'channel');
    expect(await view()).to.match(/^This channel's party is empty\. To add someone, say: /);
    await table.configure('owner', 'user');
  });

  it('names are shown as text: no structure, no pings, nothing hidden', async () => {
    await add('**x**\n# <@1> \u202e', '@everyone');
    expect(await view()).to.equal(
      '👥 Your party (1)\n• **\\*\\*x\\*\\*⏎# \\<@1> ‹U+202E›** – \\@everyone (Gear Preferences: None)',
    );
  });

  it('never holds two characters of one name, however they are added and removed', async () => {
    const name = fc.constantFrom('V', 'v', 'Ｖ', 'Jackie', 'JACKIE', 'Zoë', 'zoe\u0308', 'Rogue');
    await fc.assert(
      fc.asyncProperty(fc.array(fc.tuple(fc.boolean(), name), { maxLength: 12, size: 'max' }), async (steps) => {
        newPlayer();
        let size = 0;
        for (const [isAdded, called] of steps) {
          const said = await (isAdded ? add(called) : remove(called));
          if (said.includes('has been added')) size += 1;
          else if (said.includes('has been removed')) size -= 1;
          else expect(said).to.match(/has been changed|nobody/);
        }
        const names = (await listed()).map((line) => line.split(' – ')[0]?.normalize('NFKC').toLowerCase());
        expect(names).to.have.length(size);
        expect(new Set(names).size).to.equal(size);
      }),
      { numRuns: 10 },
    );
  });
});
