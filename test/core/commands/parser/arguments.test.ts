import { option, z } from '@cinnabar/sdk';
import { expect } from 'chai';
import fc from 'fast-check';
import { read } from '../support/harness.js';

const roll = { sides: z.int(), times: z.int().default(1), quiet: z.boolean().default(false) };
const quote = (text: string) => `"${text.replaceAll(/["\\]/g, String.raw`\$&`)}"`;

describe('the argument reader', () => {
  it('gives options by position', () => {
    expect(read(roll, '20 3 yes')).to.deep.equal({ sides: '20', times: '3', quiet: 'yes' });
  });

  it('leaves out optional options that are not given', () => {
    expect(read(roll, ' 20 ')).to.deep.equal({ sides: '20' });
  });

  it('takes optional options by name, wherever they stand', () => {
    expect(read(roll, 'times:3 20')).to.deep.equal({ sides: '20', times: '3' });
    expect(read(roll, '20 --times 3')).to.deep.equal({ sides: '20', times: '3' });
    expect(read(roll, '20 --quiet')).to.deep.equal({ sides: '20', quiet: 'yes' });
    expect(read(roll, '20 quiet:no')).to.deep.equal({ sides: '20', quiet: 'no' });
    expect(read(roll, '20 TIMES:3')).to.deep.equal({ sides: '20', times: '3' });
  });

  it('takes a quoted value after a name', () => {
    const shape = { who: z.string(), role: z.string().optional() };
    expect(read(shape, 'V role:"night city legend"')).to.deep.equal({ who: 'V', role: 'night city legend' });
    expect(read(shape, 'V --role "night city legend"')).to.deep.equal({ who: 'V', role: 'night city legend' });
  });

  it('takes text that only looks like a name as text', () => {
    const shape = { who: z.string(), role: z.string().optional() };
    expect(read(shape, 'who:V https://x.example')).to.deep.equal({ who: 'who:V', role: 'https://x.example' });
    expect(read(shape, '"role:Solo" --nope')).to.deep.equal({ who: 'role:Solo', role: '--nope' });
    expect(read(shape, 'V role:')).to.deep.equal({ who: 'V', role: 'role:' });
  });

  it('says which argument is too much', () => {
    expect(read(roll, '20 3 yes more')).to.deep.equal({
      option: undefined,
      sentence: '`more` is too much for this command. Put text with spaces in quotes.',
    });
  });

  it('says which option was given twice, or without a value', () => {
    expect(read(roll, '20 3 times:4')).to.deep.equal({ option: 'times', sentence: '`times` is given twice.' });
    expect(read(roll, '20 --times')).to.deep.equal({ option: 'times', sentence: '`times` has no value.' });
  });

  it('gives attached files in their order, and not to options by position', () => {
    const shape = { picture: option.attachment(), title: z.string(), back: option.attachment().optional() };
    expect(read(shape, 'Sunset', ['1', '2'])).to.deep.equal({ picture: '1', title: 'Sunset', back: '2' });
  });

  it('hands over the rest of the message exactly as it was typed', () => {
    const shape = { who: z.string(), text: option.rest() };
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme', minLength: 1 }), fc.constantFrom(' ', '  ', '\n'), (text, space) => {
        fc.pre(text.trimStart() === text);
        expect(read(shape, `V${space}${text}`)).to.deep.equal({ who: 'V', text });
      }),
    );
    expect(read(shape, 'V  say "hi"  --text\n  `x` ')).to.deep.equal({ who: 'V', text: 'say "hi"  --text\n  `x` ' });
  });

  it('gives a word to an optional option before the rest only where it can be meant for it', () => {
    const shape = {
      who: z.string(),
      days: z.int().optional(),
      where: option.channel().optional(),
      why: option.rest().optional(),
    };
    expect(read(shape, 'V 7 spam, again')).to.deep.equal({ who: 'V', days: '7', why: 'spam, again' });
    expect(read(shape, 'V spam, again')).to.deep.equal({ who: 'V', why: 'spam, again' });
    expect(read(shape, 'V <#12> 7 times')).to.deep.equal({ who: 'V', where: '<#12>', why: '7 times' });
    expect(read(shape, 'V days:7 where:news spam')).to.deep.equal({ who: 'V', days: '7', where: 'news', why: 'spam' });
    expect(read(shape, 'V "7" times')).to.deep.equal({ who: 'V', why: '"7" times' });
    expect(read(shape, 'V why:not now')).to.deep.equal({ who: 'V', why: 'not now' });
  });

  it('reads back what was written with quotes, by position and by name', () => {
    const shape = { first: z.string(), second: z.string(), third: z.string().optional() };
    const text = fc.string({ unit: fc.constantFrom('a', ' ', '\n', '"', "'", ':', '-', '\\', 'third:', '--') });
    fc.assert(
      fc.property(text, text, text, fc.boolean(), (first, second, third, byName) => {
        const last = `${byName ? 'third:' : ''}${quote(third)}`;
        expect(read(shape, `${quote(first)} ${quote(second)}\n${last}`)).to.deep.equal({ first, second, third });
      }),
    );
  });
});
