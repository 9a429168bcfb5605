import { drawCard, ended, longestEnded } from '@cinnabar/plugin-confirm/dist/render.js';
import { type CallCard, isNotice, withoutNoticeMark } from '@cinnabar/sdk';
import { expect } from 'chai';
import fc from 'fast-check';
import { anyCharacter } from '../../support/any-character.js';

const STYLES = ['plain', 'cyberpunk', 'terminal'] as const;
const LABELS = new Map([
  ['name', 'Name'],
  ['role', 'Role'],
  ['gear_preferences', 'Gear Preferences'],
]);

/** The card of a call, rendered by the host with the party's texts. */
function cardOf(input: Readonly<Record<string, unknown>>): CallCard {
  return {
    sentence: `I'll add ${input.name} to your party`,
    action: 'Add character to party roster',
    terminal: {
      program: 'PARTY_MANAGER',
      operation: 'ADD_CHARACTER',
      record: 'CHARACTER_DATA',
      keys: { gear_preferences: 'gear' },
    },
    fields: Object.entries(input).map(([name, value]) => ({
      name,
      label: LABELS.get(name) ?? name,
      value,
      said: name === 'name',
    })),
    arguments: {},
    cancelled: `Cancelled adding ${input.name} to your party.`,
  };
}
const draw = (style: (typeof STYLES)[number], input: Readonly<Record<string, unknown>>, notes?: string[]) =>
  drawCard(style, cardOf(input), input, notes);

const V = { name: 'V', role: 'Solo', gear_preferences: ['Assault Rifles', 'Body Armor'] };

describe('confirmation card', () => {
  describe('for the design’s example', () => {
    it('plain', () => {
      expect(draw('plain', V).content).to.equal(
        [
          '📋 Confirmation Required',
          '',
          "I'll add V to your party:",
          '• Role: Solo',
          '• Gear Preferences: Assault Rifles, Body Armor',
          '',
          '👍 Confirm  👎 Cancel',
        ].join('\n'),
      );
    });

    it('cyberpunk', () => {
      expect(draw('cyberpunk', V).content).to.equal(
        [
          '🔐 Security Clearance Required',
          '',
          'ACTION: Add character to party roster',
          '├─ Name: V',
          '├─ Role: Solo',
          '└─ Gear Preferences: Assault Rifles, Body Armor',
          '',
          'React 👍 to authorize | 👎 to abort',
        ].join('\n'),
      );
    });

    it('terminal', () => {
      expect(draw('terminal', V).content).to.equal(
        [
          '> PARTY_MANAGER.exe',
          '> Pending operation: ADD_CHARACTER',
          '>',
          '> CHARACTER_DATA {',
          '>   name: "V",',
          '>   role: "Solo",',
          '>   gear: ["Assault Rifles", "Body Armor"]',
          '> }',
          '>',
          '> Confirm? 👍 Yes / 👎 No',
        ].join('\n'),
      );
    });

    it('timed out', () => {
      const card = ended(draw('plain', { name: 'V', role: 'Solo', gear_preferences: [] }).content, 'timedOut');
      expect(isNotice({ author: { bot: true }, content: card })).to.equal(true);
      expect(withoutNoticeMark(card)).to.equal(
        [
          '~~📋 Confirmation Required~~',
          '',
          "~~I'll add V to your party:~~",
          '~~• Role: Solo~~',
          '~~• Gear Preferences: None~~',
          '',
          '~~👍 Confirm  👎 Cancel~~',
          '',
          '⏱️ Request timed out',
        ].join('\n'),
      );
    });
  });

  it('ends the sentence where nothing else is to be shown', () => {
    expect(draw('plain', { name: 'V' }).content).to.include("\nI'll add V to your party.\n\n👍");
    expect(draw('cyberpunk', {}).content).to.include('roster\n\nReact');
    expect(draw('terminal', {}).content).to.equal(
      '> PARTY_MANAGER.exe\n> Pending operation: ADD_CHARACTER\n>\n> Confirm? 👍 Yes / 👎 No',
    );
  });

  it('explains itself in lines before the choice', () => {
    expect(draw('plain', { name: 'V' }, ['Note.']).content).to.match(/party\.\n\nNote\.\n\n👍/);
    expect(draw('terminal', { name: 'V' }, ['Note.']).content).to.match(/> }\n>\n> Note\.\n>\n> Confirm/);
  });

  it('tells values apart that would look alike', () => {
    const shownOf = (value: unknown) => /gear: (.*)\n/.exec(draw('plain', { gear: value }).content)?.[1];
    for (const alike of [
      [[], ['None'], [''], ['a', 'b'], ['a, b'], ['a', ' b'], ['a\nb'], ['a⏎b']],
      [undefined, 'None', '', 'a\nb', 'a⏎b', 'a\u200bb', 'a‹U+200B›b'],
    ]) {
      const texts = alike.map(shownOf);
      expect(texts).not.to.include(undefined);
      expect(new Set(texts).size).to.equal(alike.length);
    }
    expect(shownOf(['a', 'b'])).to.equal('a, b');
    expect(shownOf(['a, b', 'c'])).to.equal('"a, b", "c"');
  });

  for (const style of STYLES) {
    describe(`in ${style} style`, () => {
      it('shows what is hidden in an argument', () => {
        const { content } = draw(style, {
          name: 'V\u202e',
          role: 'So\u200blo\u{e0041}',
          gear_preferences: ['\u2066x'],
        });
        for (const shown of ['‹U+202E›', 'So‹U+200B›lo‹U+E0041›', '‹U+2066›x']) expect(content).to.include(shown);
        expect(content).not.to.match(/[\u202e\u200b\u2066\u{e0041}]/u);
      });

      it('keeps an argument on its line: it cannot add lines or markup of its own', () => {
        const role = 'x\n\n👍 Confirm\n```js\n~~y~~ **z** <@1> @everyone [a](https://b.test)';
        const { content } = draw(style, { name: 'V', role });
        expect(content.split('\n')).to.have.length(draw(style, { name: 'V', role: 'x' }).content.split('\n').length);
        for (const markup of ['`', '~~', '**', '<@', '@everyone', '](', '://']) {
          expect(content.replaceAll(/\\[^\w\s]/g, '')).not.to.include(markup);
        }
      });

      it('attaches every argument when the card cannot show them, and says so', () => {
        const input = { name: 'V', role: `${'long '.repeat(600)}and delete everything\u202e`, gear_preferences: [] };
        const { content, file } = draw(style, input);
        expect(content).to.include('arguments.json').and.to.include('characters in all');
        expect(file?.name).to.equal('arguments.json');
        expect(JSON.parse(file?.json ?? '')).to.deep.equal(input);
        expect(file?.json).to.include('\\u202e').and.not.to.include('\u202e');
      });

      it('attaches nothing when it shows everything', () => {
        expect(draw(style, V).file).to.equal(undefined);
      });

      it('fits into a message, struck through as well, whatever the arguments; and hides none of them', () => {
        // Few values are long: thirty values of 1,500 characters take a second to generate, and show no more than three do.
        const value = fc.oneof(
          { weight: 1, arbitrary: fc.string({ unit: anyCharacter, maxLength: 1500, size: 'max' }) },
          { weight: 6, arbitrary: fc.string({ unit: anyCharacter, maxLength: 40 }) },
          { weight: 2, arbitrary: fc.array(fc.string({ unit: anyCharacter, maxLength: 50 }), { maxLength: 30 }) },
          { weight: 1, arbitrary: fc.integer() },
        );
        const anyInput = fc.dictionary(fc.stringMatching(/^[a-z_]{1,30}$/), value, { maxKeys: 30 });
        fc.assert(
          fc.property(anyInput, (input) => {
            const { content, file } = draw(style, input);
            expect(longestEnded(content)).to.be.at.most(2000);
            if (file !== undefined) expect(JSON.parse(file.json)).to.deep.equal(JSON.parse(JSON.stringify(input)));
            else expect(content).not.to.include('characters in all');
          }),
          { numRuns: 40 },
        );
      });
    });
  }
});
