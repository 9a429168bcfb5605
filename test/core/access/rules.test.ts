import { expect } from 'chai';
import { effectFor, whoIgnores } from './harness.js';

const effectOf = (...rules: readonly string[]) => effectFor([], rules);

describe('the rule that decides', () => {
  it('is about the request: the plugin, the command or a command around it, never another one', () => {
    for (const target of ['plugin party', 'command party', 'command party add']) {
      expect(effectOf(`deny ${target} for everyone`), target).to.equal('deny');
    }
    for (const target of ['plugin chat', 'command part', 'command party add now', 'command add', 'tool party add']) {
      expect(effectOf(`deny ${target} for everyone`), target).to.equal(undefined);
    }
  });

  it('is about the actor or the place, with a thread in its channel and its category', () => {
    for (const subject of [
      'user ann',
      'role guest',
      'channel thread',
      'channel bar',
      'category downtown',
      'everyone',
    ]) {
      expect(effectOf(`deny plugin party for ${subject}`), subject).to.equal('deny');
    }
    for (const subject of ['user bob', 'role fixer', 'channel lobby', 'category uptown', 'channel downtown']) {
      expect(effectOf(`deny plugin party for ${subject}`), subject).to.equal(undefined);
    }
  });

  /** Each rule precedes all rules below it, in any order of storage. */
  const TABLE = [
    'deny command party add for user ann',
    'allow command party add for user ann',
    'deny command party for user ann',
    'allow plugin party for user ann',
    'deny command party add for role solo',
    'allow command party add for role guest',
    'allow plugin party for role solo',
    'deny command party for channel bar',
    'allow plugin party for channel thread',
    'deny plugin party for category downtown',
    'allow command party add for everyone',
    'deny plugin party for everyone',
  ];
  it('follows one table of precedence: subject, then target, then deny before allow', () => {
    for (const [index, text] of TABLE.entries()) {
      const lower = TABLE.slice(index);
      for (const order of [lower, lower.toReversed()]) expect(effectOf(...order), text).to.equal(text.split(' ')[0]);
    }
  });

  it("asks the rules of the bot's owner first", () => {
    const effectWith = (owner: string, guild: string) => effectFor([owner], [guild]);
    expect(effectWith('deny plugin party for everyone', 'allow command party add for user ann')).to.equal('deny');
    expect(effectWith('allow plugin party for guild city', 'deny command party add for user ann')).to.equal('allow');
    expect(effectWith('deny plugin party for guild elsewhere', 'allow plugin party for everyone')).to.equal('allow');
    expect(effectWith('deny plugin party for guilds', 'allow plugin party for everyone')).to.equal('deny');
  });
});

describe('rules about everything', () => {
  it('have the bot ignore a member, a place, or all but those whom they allow', () => {
    const cases: readonly (readonly [rules: readonly string[], ignored: boolean])[] = [
      [['deny everything for user ann'], true],
      [['deny everything for user bob'], false],
      [['deny everything for role guest', 'allow everything for user ann'], false],
      [['deny everything for user ann', 'allow everything for role guest'], true],
      [['deny everything for channel bar'], true],
      [['deny everything for channel bar', 'allow everything for role guest'], true],
      [['deny everything for category downtown', 'allow everything for channel bar'], false],
      [['deny everything for everyone'], true],
      [['deny everything for everyone', 'allow everything for role solo'], false],
      [['deny everything for everyone', 'allow everything for channel thread'], false],
      [['deny everything for everyone', 'allow everything for channel bar', 'deny everything for user ann'], true],
      [['deny everything for everyone', 'allow command party for user ann'], true],
    ];
    for (const [rules, ignored] of cases) {
      for (const order of [rules, rules.toReversed()]) {
        expect(whoIgnores([], order), rules.join(', ')).to.equal(ignored ? 'guild' : undefined);
      }
    }
  });

  it("let neither the bot's owner nor the server admit what the other one ignores", () => {
    expect(whoIgnores(['deny everything for user ann'], ['allow everything for user ann'])).to.equal('owner');
    expect(whoIgnores(['allow everything for user ann'], ['deny everything for user ann'])).to.equal('guild');
  });

  it('can apply to all servers except some, without direct messages', () => {
    const listed = ['deny everything for guilds', 'allow everything for guild city'];
    expect(whoIgnores(listed, [])).to.equal(undefined);
    expect(whoIgnores(listed, [], { guildId: 'elsewhere' })).to.equal('owner');
    expect(whoIgnores(listed, [], { guildId: undefined, channelIds: [], categoryId: undefined })).to.equal(undefined);
  });
});
