import { expect } from 'chai';
import fc from 'fast-check';
import { meaningOf, mistakeIn } from './console-harness.js';

const act = (line: string) => meaningOf(line)?.act;

describe("the console's language", () => {
  it('sends other lines as messages, as @you or as another member', () => {
    expect(meaningOf('hello everyone')).to.deep.equal({ who: undefined, act: { kind: 'say', text: 'hello everyone' } });
    expect(meaningOf('@alice: hi')).to.deep.equal({ who: 'alice', act: { kind: 'say', text: 'hi' } });
    expect(meaningOf("!ai Add V to my party, he's a Solo")?.act.kind).to.equal('say');
    expect(meaningOf('   ')).to.equal(undefined);
  });

  it('reacts with thumbs and with any emoji, to the latest or to a named message', () => {
    expect(act('+1')).to.deep.equal({ kind: 'react', message: undefined, emoji: '👍' });
    expect(act('-1 m3')).to.deep.equal({ kind: 'react', message: 'm3', emoji: '👎' });
    expect(act('react m3 🎉')).to.deep.equal({ kind: 'react', message: 'm3', emoji: '🎉' });
    expect(act('unreact m3 🎉')).to.deep.equal({ kind: 'unreact', message: 'm3', emoji: '🎉' });
    expect(meaningOf('@alice: +1 m2')).to.deep.equal({
      who: 'alice',
      act: { kind: 'react', message: 'm2', emoji: '👍' },
    });
  });

  it('reads slash commands with groups and options', () => {
    expect(act('/roll sides:20')).to.deep.equal({ kind: 'slash', command: 'roll', options: { sides: '20' } });
    expect(act('/plugin reload id:party')).to.deep.equal({
      kind: 'slash',
      command: 'plugin reload',
      options: { id: 'party' },
    });
    expect(act('/ai text:add V: he is "great"')).to.deep.equal({
      kind: 'slash',
      command: 'ai',
      options: { text: 'add', V: 'he is "great"' },
    });
    expect(act('/ai text:"add V: now"')).to.deep.equal({
      kind: 'slash',
      command: 'ai',
      options: { text: 'add V: now' },
    });
    expect(act('/help')).to.deep.equal({ kind: 'slash', command: 'help', options: {} });
    expect(mistakeIn('/roll =20')).to.match(/name:value/);
  });

  it('presses, selects, submits and lets time pass', () => {
    expect(act('click m3 Stop')).to.deep.equal({ kind: 'click', message: 'm3', target: 'Stop' });
    expect(act('select m3 Colour red "dark blue"')).to.deep.equal({
      kind: 'select',
      message: 'm3',
      text: 'Colour red "dark blue"',
    });
    for (const line of ['submit 5', 'submit', 'select Colour red', 'select m3'])
      expect(mistakeIn(line), line).to.match(/This was not sent/);
    expect(act('submit to the will of others')).to.include({ kind: 'say' });
    expect(act('submit name:V role:Solo')).to.deep.equal({ kind: 'submit', fields: { name: 'V', role: 'Solo' } });
    expect(act('wait 61s')).to.deep.equal({ kind: 'wait', ms: 61_000 });
    expect(act('wait for me')).to.deep.equal({ kind: 'say', text: 'wait for me' });
  });

  it('never fails on typed text, except for options without a name', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme' }), (line) => {
        expect(mistakeIn(line) ?? 'none').to.be.a('string');
      }),
    );
  });
});

describe('the console’s instructions', () => {
  it('refuse a mistyped line with the right form, and send it as a message after a backslash', () => {
    const wrong = [
      'wait 61',
      'wait 5 parsecs',
      'react m3',
      'click m3',
      '+1 3',
      '+2',
      'm3 hi',
      'reply m3',
      'submit a=b',
      '/Roll',
      'delete m3 now',
      'go',
      'exit m1 m2',
    ].slice(0, -1);
    for (const line of wrong) {
      expect(mistakeIn(line), line).to.match(/was not sent/);
      expect(meaningOf(`\\${line}`)?.act, line).to.deep.equal({ kind: 'say', text: line });
    }
    for (const line of ['wait for me', 'click here', 'reply to me', 'exit stage left', 'go home', 'help me']) {
      expect(meaningOf(line)?.act, line).to.deep.equal({ kind: 'say', text: line });
    }
  });
});
