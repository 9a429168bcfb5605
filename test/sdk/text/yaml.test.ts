import { readYaml } from '@cinnabar/sdk';
import { expect } from 'chai';
import fc from 'fast-check';
import { anyCharacter } from '../../support/any-character.js';
import { cpuMsOf } from '../../support/cpu-time.js';

describe('untrusted YAML', () => {
  const values = (text: string) => {
    const reading = readYaml(text);
    if (!reading.ok) throw new Error(`${reading.line}: ${reading.problem}`);
    return reading.values;
  };
  const refusal = (text: string, maxBytes = 1_000_000) => {
    const reading = readYaml(text, { maxBytes });
    return reading.ok ? 'accepted' : `${reading.line}: ${reading.problem}`;
  };

  it('becomes plain values; a text without any has none', () => {
    expect(values('a: 1\nb: [x, true]\n')).to.deep.equal({ a: 1, b: ['x', true] });
    expect(values('# nothing yet\n')).to.deep.equal({});
    expect(values('')).to.deep.equal({});
    expect(values('---\na: yes\n')).to.deep.equal({ a: 'yes' });
  });

  it('knows the line of each key, or of what is nearest to one that is not there', () => {
    const reading = readYaml('a: 1\nb:\n  c:\n    - x\n    - y: 2\n');
    if (!reading.ok) throw new Error(reading.problem);
    expect(reading.lineOf(['a'])).to.equal(1);
    expect(reading.lineOf(['b', 'c'])).to.equal(3);
    expect(reading.lineOf(['b', 'c', 1, 'y'])).to.equal(5);
    expect(reading.lineOf(['b', 'nothing'])).to.equal(2);
    expect(reading.lineOf(['nothing'])).to.equal(1);
  });

  it('cannot be changed afterwards, also in its depths', () => {
    const { deep } = values('deep: {list: [{a: 1}]}\n');
    expect(() => Object.assign(Object(deep), { other: 1 })).to.throw(TypeError);
  });

  it('may reuse a part by its alias', () => {
    expect(values('one: &x {a: 1}\ntwo: *x\n')).to.deep.equal({ one: { a: 1 }, two: { a: 1 } });
  });

  it('is refused with the line when a key is there twice, on any level', () => {
    expect(refusal('a: 1\nb:\n  c: 1\n  c: 2\n')).to.equal('4: the key "c" is there twice');
  });

  it('is refused when a key is not plain text', () => {
    for (const key of ['{a: 1}', '? [a]', '*x'])
      expect(refusal(`x: &x 1\n${key} : b\n`)).to.equal('2: a key must be plain text');
  });

  it('is refused when it has tags', () => {
    for (const tag of ['!secret x', '!!binary aGVsbG8=', '!!js/function "x"', '!!set {x}'])
      expect(refusal(`ok: 1\na: ${tag}\n`)).to.equal('2: tags such as !this are not allowed');
  });

  it('is refused when its aliases multiply, hold themselves or name nothing', () => {
    const levels = Array.from(
      { length: 12 },
      (_, n) => `a${n}: &a${n} [${Array(9).fill(n === 0 ? 'x' : `*a${n - 1}`)}]`,
    );
    for (const text of [levels.join('\n'), 'a: &a [*a]', 'a: *b'])
      expect(refusal(text)).to.equal('1: its aliases name nothing, multiply or hold themselves');
  });

  it('is refused when it is too large, too deep, or more than one document', () => {
    expect(refusal('a: 12345678', 10)).to.equal('1: it is larger than 10 bytes');
    expect(refusal(`a: ${'['.repeat(40)}${']'.repeat(40)}`)).to.equal('1: it is nested deeper than 32 levels');
    expect(refusal('a: 1\n---\nb: 2\n')).to.equal('2: it holds more than one document');
  });

  it('is refused when it is no YAML, or no keys with values', () => {
    expect(refusal('a: 1\nb: "x\n')).to.match(/^\d: it is not valid YAML: /);
    for (const text of ['- a\n', 'words', '42'])
      expect(refusal(text)).to.equal('1: it must hold keys with values, as in "key: value"');
  });

  it('takes no time to speak of when it is made to take long', async () => {
    const texts = ['{', '[', '- ', '? ', 'a: ', '{a: ', '[a,', '"', '&a ', '!x '].map((part) => part.repeat(5_000));
    const many = Array.from({ length: 5_000 }, (_, n) => `k${n}: ${n}`).join('\n');
    // An algorithm that compares every key with every other, or composes the brackets, takes minutes.
    expect(await cpuMsOf(() => [...texts, many].map((text) => readYaml(text)))).to.be.below(10_000);
  });

  it('never makes it throw', () => {
    const shred = fc.constantFrom(
      ...[
        'a',
        'b: ',
        '- ',
        '\n',
        '  ',
        '{',
        '}',
        '[',
        ']',
        '&x ',
        '*x',
        '!t ',
        '"',
        "'",
        '|',
        '>',
        '#',
        '? ',
        ',',
        '%',
        '---',
        '\t',
        '\0',
      ],
    );
    const text = fc.oneof(
      fc.string(),
      fc.string({ unit: anyCharacter }),
      fc.array(shred).map((shreds) => shreds.join('')),
    );
    fc.assert(
      fc.property(text, (input) => {
        const reading = readYaml(input);
        if (reading.ok) expect(reading.lineOf(['a', 0, 'b'])).to.be.at.least(1);
        else expect(reading.line).to.be.at.least(1);
      }),
      { numRuns: 1_000 },
    );
  });
});
