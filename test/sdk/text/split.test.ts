import { readdirSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { splitMessage } from '@cinnabar/sdk';
import { expect } from 'chai';
import fc from 'fast-check';
import { cpuMsOf } from '../../support/cpu-time.js';
import { isReconstruction, markdownDocument, openFence } from './markdown.js';

const DISCORD_LIMIT = 2000;
const LONE_SURROGATE = /\p{Surrogate}/u;

describe('splitMessage', () => {
  it('leaves a text that fits as it is', () => {
    expect(splitMessage('Hello, *you*. ', DISCORD_LIMIT)).to.deep.equal(['Hello, *you*. ']);
  });

  it('has nothing to say about blank text', () => {
    expect(splitMessage(' \n\t\n', DISCORD_LIMIT)).to.deep.equal([]);
  });

  it('refuses a limit that cannot hold a character', () => {
    expect(() => splitMessage('a', 1)).to.throw(RangeError);
    expect(() => splitMessage('a', 2.5)).to.throw(RangeError);
  });

  describe('prefers to cut', () => {
    const cases = [
      ['between paragraphs', 'One. Two.\n\nThree.\nFour', 18, ['One. Two.', 'Three.\nFour']],
      ['then between lines', 'One. Two\nThree. Four five', 20, ['One. Two', 'Three. Four five']],
      ['then after a sentence', 'One two. Three four five', 18, ['One two.', 'Three four five']],
      ['then between words', 'One two three four', 12, ['One two', 'three four']],
      ['then between characters', 'abcdefgh', 5, ['abcde', 'fgh']],
    ] as const;
    for (const [name, text, limit, parts] of cases) {
      it(name, () => expect(splitMessage(text, limit)).to.deep.equal(parts));
    }
  });

  describe('keeps whole', () => {
    const cases = [
      ['a surrogate pair', 'ab😀', 3, ['ab', '😀']],
      ['a family of emoji', 'ab 👨‍👩‍👧‍👦👨‍👩‍👧‍👦', 16, ['ab', '👨‍👩‍👧‍👦', '👨‍👩‍👧‍👦']],
      ['an accent and its letter', 'xyze\u0301', 4, ['xyz', 'e\u0301']],
      ['inline code', 'See `a b c d` there', 11, ['See', '`a b c d`', 'there']],
      [
        'a link with its text',
        'See [the docs](https://a.example) now',
        32,
        ['See', '[the docs](https://a.example)', 'now'],
      ],
      ['a slash command mention', 'Use </plugin reload:123456> now', 24, ['Use', '</plugin reload:123456>', 'now']],
    ] as const;
    for (const [name, text, limit, parts] of cases) {
      it(name, () => expect(splitMessage(text, limit)).to.deep.equal(parts));
    }
  });

  describe('closes a fence at the end of a part and reopens it in the next', () => {
    const cases = [
      ['with its info string', '```js\naaaa\nbbbb\ncccc\n```', 19, ['```js\naaaa\nbbbb\n```', '```js\ncccc\n```']],
      ['of tildes', '~~~\naaaa\nbbbb\n~~~', 13, ['~~~\naaaa\n~~~', '~~~\nbbbb\n~~~']],
      [
        'longer than the fences inside',
        '````\n```\naaaa\n```\nbb\n````',
        22,
        ['````\n```\naaaa\n```\n````', '````\nbb\n````'],
      ],
      ['in a quote', '> ```\n> aaaa\n> bbbb\n> ```', 18, ['> ```\n> aaaa\n> ```', '> ```\n> bbbb\n> ```']],
      ['in a list', '- ```\n  aaaa\n  bbbb\n  ```', 18, ['- ```\n  aaaa\n  ```', '  ```\n  bbbb\n  ```']],
      ['that is never closed', '```\naaaa\nbbbb', 13, ['```\naaaa\n```', '```\nbbbb\n```']],
      ['in the middle of a long line', '```\naaaabbbb\n```', 12, ['```\naaaa\n```', '```\nbbbb\n```']],
      [
        'before a line whose rest would close it',
        `\`\`\` ${'i'.repeat(24)}\n\n\n> \`\`\`\`\naa\n  \`\`\``,
        40,
        [`\`\`\` ${'i'.repeat(24)}\n\n\n\`\`\``, '```\n> ````\naa\n  ```'],
      ],
      [
        'without an info string that is too long',
        `\`\`\`${'i'.repeat(12)}\naa\n\`\`\``,
        16,
        ['```iiiiiiiii\n```', '```\niii\naa\n```'],
      ],
    ] as const;
    for (const [name, text, limit, parts] of cases) {
      it(name, () => expect(splitMessage(text, limit)).to.deep.equal(parts));
    }
  });

  it('moves a fence that fits to the next part rather than cutting it', () => {
    const fence = '```\naaaa\nbbbb\n```';
    expect(splitMessage(`Some words.\n${fence}`, 24)).to.deep.equal(['Some words.', fence]);
  });

  it('never makes a fence of backticks from the middle of a line', () => {
    const parts = splitMessage('Write ``` before your code and ``` after it, please', 24);
    expect(parts.map(openFence)).to.deep.equal(parts.map(() => undefined));
  });

  it('holds for any document: no part over the limit, empty, or with a broken fence or character; nothing lost', function () {
    this.timeout(60_000);
    fc.assert(
      fc.property(markdownDocument, fc.integer({ min: 40, max: 400 }), (text, limit) => {
        const parts = splitMessage(text, limit);
        for (const part of parts) {
          expect(part.length).to.be.at.most(limit);
          expect(part.trim()).to.not.equal('');
          expect(part).to.not.match(LONE_SURROGATE);
          expect(openFence(part), part).to.equal(undefined);
        }
        expect(isReconstruction(parts, text), JSON.stringify(parts)).to.equal(true);
      }),
      { numRuns: 1500 },
    );
  });

  it('holds its limits for any characters whatsoever', () => {
    const junk = fc.string({
      unit: fc.constantFrom('`', '~', '\n', ' ', '>', '-', 'a', '😀', '\t', '\r'),
      maxLength: 200,
    });
    fc.assert(
      fc.property(junk, fc.integer({ min: 2, max: 40 }), (text, limit) => {
        const parts = splitMessage(text, limit);
        expect(
          parts.every((part) => part.length <= limit && part.trim() !== '' && !LONE_SURROGATE.test(part)),
        ).to.equal(true);
        expect(parts.join('').match(/a/g)?.length).to.equal(text.match(/a/g)?.length);
      }),
      { numRuns: 1000 },
    );
  });

  it('breaks no fence in the README of any installed package', () => {
    const modules = dirname(dirname(createRequire(import.meta.url).resolve('chai')));
    const documents = readdirSync(modules, { withFileTypes: true })
      .filter((entry) => entry.isDirectory())
      .map((entry) => readOptional(join(modules, entry.name, 'README.md')).replaceAll('\r\n', '\n'))
      .filter((text) => text.length > DISCORD_LIMIT);
    expect(documents.length).to.be.greaterThan(50);
    for (const text of documents) {
      const parts = splitMessage(text, DISCORD_LIMIT);
      expect(parts.filter((part) => part.length > DISCORD_LIMIT || openFence(part) !== undefined)).to.deep.equal([]);
      expect(isReconstruction(parts, text), text.slice(0, 80)).to.equal(true);
    }
  });

  it('takes linear time on hostile text', async () => {
    const hostile = ['`', '[', '- ', '> ', '\n', 'a ', '` `` ```', '``` ', '[a](', '<', 'e\u0301', '```\n'];
    for (const seed of hostile) {
      const text = seed.repeat(100_000 / seed.length);
      expect(await cpuMsOf(() => splitMessage(text, DISCORD_LIMIT)), JSON.stringify(seed)).to.be.below(2_000);
    }
  });
});

function readOptional(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return '';
  }
}
