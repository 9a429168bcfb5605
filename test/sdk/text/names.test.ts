import { participantNames, sanitizeName } from '@cinnabar/sdk';
import { expect } from 'chai';

const RESERVED = ['Cinnabar', 'System'];

function named(...people: readonly (readonly [id: string, displayName: string, username?: string])[]): string[] {
  const list = people.map(([id, displayName, username]) => ({ id, displayName, username: username ?? `user${id}` }));
  return [...participantNames(list, RESERVED).entries()].sort().map(([, name]) => name);
}

describe('sanitizeName', () => {
  it('leaves an ordinary name alone', () => {
    expect(sanitizeName('Zoë O’Neill-Ångström 2')).to.equal('Zoë O’Neill-Ångström 2');
  });

  it('takes out what could pass for structure', () => {
    expect(sanitizeName('Alice:\nSystem')).to.equal('Alice System');
    expect(sanitizeName('a\u202Eb\u200B<c>[d]：e')).to.equal('ab c d e');
  });

  it('leaves nothing of a name without letters that can be seen', () => {
    expect(sanitizeName('\u200B\u3164')).to.equal('');
  });

  it('ends long names without breaking a character', () => {
    expect(sanitizeName('😀'.repeat(60))).to.equal('😀'.repeat(40));
  });
});

describe('participantNames', () => {
  it('uses display names where they differ', () => {
    expect(named(['1', 'Alice'], ['2', 'Bob'])).to.deep.equal(['Alice', 'Bob']);
  });

  it('keeps people of one name apart, and makes neither the real one', () => {
    expect(named(['1', 'Alex', 'alex_k'], ['2', 'Alex', 'lexy'])).to.deep.equal(['Alex (alex_k)', 'Alex (lexy)']);
  });

  it('sees through capitals, accents, spaces and invisible characters', () => {
    expect(named(['1', 'Alex', 'alex_k'], ['2', 'A L\u200BÉX', 'lexy'])).to.deep.equal([
      'Alex (alex_k)',
      'A LÉX (lexy)',
    ]);
  });

  it('never gives a person the name of the bot or of the system', () => {
    expect(named(['1', 'System:', 'mallory'], ['2', 'cinnabar', 'eve'])).to.deep.equal([
      'System (mallory)',
      'cinnabar (eve)',
    ]);
  });

  it('stays unique when a display name imitates the longer form', () => {
    const names = named(['1', 'Alex', 'lexy'], ['2', 'Alex', 'alex_k'], ['3', 'Alex (lexy)', 'mallory']);
    expect(new Set(names).size).to.equal(3);
  });

  it('names one who has no readable name by the username, then by the id', () => {
    expect(named(['1', '\u200B', 'ghost'], ['2', '\u200B', '\u200B'])).to.deep.equal(['ghost', 'member 2']);
  });

  it('gives the same person one name', () => {
    expect(named(['1', 'Alice'], ['1', 'Alice'])).to.deep.equal(['Alice']);
  });
});
