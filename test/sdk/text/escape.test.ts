import { plainText, visible } from '@cinnabar/sdk';
import { expect } from 'chai';
import fc from 'fast-check';
import { anyCharacter } from '../../support/any-character.js';

const anyText = fc.string({ unit: anyCharacter, maxLength: 60 });
const hidden = fc.constantFrom(
  '\u200b',
  '\u200d',
  '\u202e',
  '\u2066',
  '\ufeff',
  '\u00ad',
  '\u3164',
  '\ufe0f',
  '\u{e0041}',
  '\0',
  '\x1b',
  '\t',
  '\u2028',
  '\ud800',
);

/** The inverse of `visible`, which exists only if the results of two texts always differ. */
const unseen = (shown: string) =>
  shown.replace(/⏎|‹U\+([0-9A-F]+)›/g, (_, hex?: string) =>
    hex ? String.fromCodePoint(Number.parseInt(hex, 16)) : '\n',
  );

describe('visible', () => {
  it('leaves ordinary text of any script, and whole emoji, as they are', () => {
    for (const text of ['V is a Solo', 'Łódź, Zoë, 東京　駅', 'Ὀδυσσεύς', '👍🏽 👨‍👩‍👧 🏴󠁧󠁢󠁥󠁮󠁧󠁿 ❤️ 1️⃣'])
      expect(visible(text)).to.equal(text);
  });

  it('names zero-width, bidirectional, tag and control characters', () => {
    expect(visible('a\u200bb')).to.equal('a‹U+200B›b');
    expect(visible('\u202egnp.exe')).to.equal('‹U+202E›gnp.exe');
    expect(visible('x\u{e0041}\x1b[2J')).to.equal('x‹U+E0041›‹U+001B›[2J');
  });

  it('names a variation selector that does not belong to an emoji, and blank letters', () => {
    expect(visible('V\ufe0f')).to.equal('V‹U+FE0F›');
    expect(visible('\u3164\u2800')).to.equal('‹U+3164›‹U+2800›');
  });

  it('keeps accents, but not a pile of them', () => {
    expect(visible('e\u0301')).to.equal('e\u0301');
    expect(visible(`e${'\u0301'.repeat(6)}`)).to.equal(`e${'\u0301'.repeat(4)}‹U+0301›‹U+0301›`);
  });

  it('shows line feeds on one line, and cannot be imitated', () => {
    expect(visible('a\nb')).to.equal('a⏎b');
    expect(visible('a⏎b ‹U+202E› ‹x›')).to.equal('a‹U+23CE›b ‹U+2039›U+202E› ‹x›');
  });

  it('never shows two texts alike, whatever is in them', () => {
    fc.assert(
      fc.property(fc.array(fc.oneof(anyText, hidden, fc.constantFrom('⏎', '‹', '‹U+', '\n'))), (parts) => {
        const text = parts.join('');
        expect(unseen(visible(text))).to.equal(text);
      }),
    );
  });

  it('leaves no hidden character beside an emoji', () => {
    fc.assert(
      fc.property(anyText, hidden, anyText, (before, character, after) => {
        const shown = visible(`${before}x${character}x${after}`);
        expect(shown).not.to.include(`x${character}x`);
        expect(shown).not.to.include('\n');
      }),
    );
  });
});

describe('plainText', () => {
  it('escapes what would be emphasis, code, spoiler, link or strike-through', () => {
    expect(plainText('**V** _x_ ~~y~~ `z` ||s|| [a](b)')).to.equal(
      '\\*\\*V\\*\\* \\_x\\_ \\~\\~y\\~\\~ \\`z\\` \\|\\|s\\|\\| [a\\](b)',
    );
  });

  it('escapes mentions, custom emoji and links', () => {
    expect(plainText('<@1> <#2> <:a:3> @everyone @here me@home https://x.test')).to.equal(
      '\\<@1> \\<#2> \\<:a:3> \\@everyone \\@here me@home https\\://x.test',
    );
  });

  it('escapes marks that mean something at the start of a line only there', () => {
    expect(plainText('# a\n> b\n - c\n+ d\n1. e\nf # > - + 1. g')).to.equal(
      '\\# a\n\\> b\n \\- c\n\\+ d\n1\\. e\nf # > - + 1. g',
    );
  });

  it('cannot be undone by a backslash of the text', () => {
    expect(plainText('\\*x\\')).to.equal('\\\\\\*x\\\\');
  });

  it('leaves ordinary prose alone', () => {
    for (const text of ['V', "he's a Solo (heavy), level 5", 'Assault Rifles, Body Armor', '2.5 kg', '["a", "b"]']) {
      expect(plainText(text)).to.equal(text);
    }
  });

  it('only ever adds backslashes', () => {
    fc.assert(
      fc.property(
        fc.string({ unit: fc.constantFrom('*', '_', '`', '#', '1', '.', 'a', ' ', '\n', '<', '@', 'everyone') }),
        (text) => {
          expect(plainText(text).replaceAll('\\', '')).to.equal(text);
        },
      ),
    );
  });
});
