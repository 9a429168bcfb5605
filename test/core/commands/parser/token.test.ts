import { expect } from 'chai';
import fc from 'fast-check';
import { anyCharacter } from '../../../support/any-character.js';
import { tokens } from '../support/harness.js';

const PAIRS = [
  ['"', '"'],
  ["'", "'"],
  ['“', '”'],
  ['«', '»'],
] as const;

const texts = (source: string) => tokens(source).map((token) => token.text);

/** Text with many quotes and backslashes. */
const awkward = fc.string({ unit: fc.constantFrom('a', ' ', '\n', '"', "'", '“', '”', '«', '»', '\\', 'é', '🎲') });

describe('the argument tokenizer', () => {
  it('takes words apart at any white space', () => {
    expect(texts('  add   V\tSolo\n6 ')).to.deep.equal(['add', 'V', 'Solo', '6']);
  });

  for (const [open, close] of PAIRS) {
    it(`keeps what stands between ${open} and ${close} together`, () => {
      expect(texts(`${open}Johnny Silverhand${close} Solo`)).to.deep.equal(['Johnny Silverhand', 'Solo']);
    });
  }

  it('knows an empty argument from none', () => {
    expect(texts('"" x')).to.deep.equal(['', 'x']);
  });

  it('leaves apostrophes and inch marks alone', () => {
    expect(texts(`he's 5" tall`)).to.deep.equal(["he's", '5"', 'tall']);
  });

  it('takes a quote that nothing closes as an ordinary character', () => {
    expect(texts('"Johnny Silverhand')).to.deep.equal(['"Johnny', 'Silverhand']);
  });

  it('takes a closing quote in the middle of a word as an ordinary character', () => {
    expect(texts('"a"b c" d')).to.deep.equal(['a"b c', 'd']);
  });

  it('reads escaped quotes and backslashes inside quotes, and keeps other backslashes', () => {
    expect(texts(String.raw`"say \"hi\" in C:\temp\\"`)).to.deep.equal([`${String.raw`say "hi" in C:\temp`}\\`]);
  });

  it('lets a backslash keep a quote from opening', () => {
    expect(texts(String.raw`\"a b"`)).to.deep.equal(['"a', 'b"']);
  });

  it('never throws, always moves on, and loses no character that is not white space, a quote or a backslash', () => {
    fc.assert(
      fc.property(fc.oneof(awkward, fc.string({ unit: anyCharacter })), (source) => {
        let before = 0;
        for (const token of tokens(source)) {
          expect(token.start).to.be.at.least(before);
          expect(token.end).to.be.above(token.start);
          expect(source.slice(before, token.start).trim()).to.equal('');
          before = token.end;
        }
        expect(source.slice(before).trim()).to.equal('');
        const kept = (text: string) => text.replaceAll(/[\s"'“”«»\\]/g, '');
        expect(kept(texts(source).join(''))).to.equal(kept(source));
      }),
    );
  });

  it('gives every quoted text back', () => {
    fc.assert(
      fc.property(
        fc.oneof(awkward, fc.string({ unit: anyCharacter })),
        fc.constantFrom(...PAIRS),
        (text, [open, close]) => {
          const escaped = [...text].map((c) => (c === open || c === close || c === '\\' ? `\\${c}` : c)).join('');
          expect(texts(`${open}${escaped}${close}`)).to.deep.equal([text]);
        },
      ),
    );
  });
});
