import { LIMITS, partyList, withCharacter, withoutCharacter } from '@cinnabar/plugin-party/dist/characters.js';
import { UserError } from '@cinnabar/sdk';
import { expect } from 'chai';
import fc from 'fast-check';

const character = (name: string, role = 'Solo', gear: string[] = []) => ({ name, role, gear });
const names = (members: readonly { name: string }[]) => members.map(({ name }) => name);

describe('party roster', () => {
  it('adds a new character at the end', () => {
    expect(names(withCharacter([character('V')], character('Jackie')))).to.deep.equal(['V', 'Jackie']);
  });

  for (const [there, typed] of [
    ['Zoë', 'zoe\u0308'],
    ['T-Bug', 't-BUG'],
    ['Johnny Silverhand', ' johnny   silverhand '],
    ['V', 'Ｖ'],
    ['V', 'V\u200b'],
    ['Straße', 'STRASSE'],
  ] as const) {
    it(`takes "${typed}" for "${there}", and keeps the name as it was typed first`, () => {
      const members = withCharacter([character(there), character('Other')], character(typed, 'Fixer'));
      expect(members).to.deep.equal([character(there, 'Fixer'), character('Other')]);
      expect(withoutCharacter([character(there)], typed).left).to.deep.equal([]);
    });
  }

  it('an update changes role and gear preferences, even in a full party', () => {
    const full = Array.from({ length: LIMITS.members }, (_, index) => character(`N${index}`, 'Solo', ['Armor']));
    expect(withCharacter(full, character('n3', 'Nomad'))[3]).to.deep.equal(character('N3', 'Nomad'));
    expect(() => withCharacter(full, character('one more'))).to.throw(UserError, 'at most 50 members');
  });

  it('says which limit is passed', () => {
    expect(() => withCharacter([], character('x'.repeat(101)))).to.throw(
      UserError,
      'at most 100 characters; this one has 101',
    );
    expect(() => withCharacter([], character(' \u200b'))).to.throw(UserError, 'needs a name');
    expect(() => withCharacter([], character('V', ' '))).to.throw(UserError, 'needs a role');
    expect(() => withCharacter([], character('V', 'x'.repeat(201)))).to.throw(UserError, 'A role has at most 200');
    expect(() => withCharacter([], character('V', 'Solo', Array.from({ length: 21 }, String)))).to.throw(
      UserError,
      'at most 20',
    );
    expect(() => withCharacter([], character('V', 'Solo', ['x'.repeat(101)]))).to.throw(UserError, 'at most 100');
  });

  it('removing someone who is not there names the nearest', () => {
    const party = [character('Jackie'), character('V')];
    expect(() => withoutCharacter(party, 'Jacky')).to.throw(
      UserError,
      'nobody called Jacky in the party. Did you mean Jackie?',
    );
    expect(() => withoutCharacter(party, 'Adam Smasher')).to.throw(UserError, /in the party\.$/);
    expect(() => withoutCharacter([], 'V')).to.throw(UserError, 'nobody in the party');
  });

  it('is listed with role and gear preferences, None where there are none', () => {
    expect(partyList([character('V', 'Solo', ['Assault Rifles', 'Body Armor']), character('Jackie')], 'user')).to.equal(
      '👥 Your party (2)\n• **V** – Solo (Gear Preferences: Assault Rifles, Body Armor)\n• **Jackie** – Solo (Gear Preferences: None)',
    );
    expect(partyList([], 'channel')).to.match(/^This channel's party is empty\. To add someone, say: /);
  });

  it('names are shown as text: no structure, no pings, nothing hidden', () => {
    const list = partyList([character('**x**\n# <@1> \u202e', '@everyone')], 'user');
    expect(list).to.equal(
      '👥 Your party (1)\n• **\\*\\*x\\*\\*⏎# \\<@1> ‹U+202E›** – \\@everyone (Gear Preferences: None)',
    );
  });

  it('never holds two characters of one name, however they are added and removed', () => {
    const name = fc.constantFrom('V', 'v', 'Ｖ', 'Jackie', 'JACKIE', 'Zoë', 'zoe\u0308', 'Rogue');
    fc.assert(
      fc.property(fc.array(fc.tuple(fc.boolean(), name)), (steps) => {
        let members: ReturnType<typeof withCharacter> = [];
        for (const [add, called] of steps) {
          const before = members.length;
          if (add) members = withCharacter(members, character(called));
          else if (before > 0) {
            try {
              members = withoutCharacter(members, called).left;
              expect(members).to.have.length(before - 1);
            } catch (error) {
              expect(error).to.be.instanceOf(UserError);
            }
          }
        }
        const keys = members.map((member) => member.name.normalize('NFKC').toLowerCase());
        expect(new Set(keys).size).to.equal(keys.length);
      }),
    );
  });
});
