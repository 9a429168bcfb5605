import { judge } from '@cinnabar/core/internal/access/access';
import { decidingRule, type RulePosition } from '@cinnabar/core/internal/access/rules';
import type { Subject } from '@cinnabar/core/internal/access/subjects';
import { type AccessRule, RULE_SUBJECTS, TIERS } from '@cinnabar/sdk';
import { expect } from 'chai';
import { PermissionsBitField } from 'discord.js';
import fc from 'fast-check';

const position: RulePosition = {
  userId: 'ann',
  hasRole: (id) => id === 'solo' || id === 'guest',
  channelIds: ['thread', 'bar'],
  categoryId: 'downtown',
};
const request = { kind: 'command', name: 'party add', plugin: 'party' } as const;

/** `deny command party add for role solo` */
function rule(text: string): AccessRule {
  const [, effect, kind, name, about, id] = /^(allow|deny) (\w+) (.+?) for (\w+) ?(\w*)$/.exec(text) ?? [];
  const subject = RULE_SUBJECTS.find((one) => one === about);
  if ((kind !== 'plugin' && kind !== 'command' && kind !== 'tool') || subject === undefined || name === undefined) {
    throw new Error(`not a rule: ${text}`);
  }
  return {
    effect: effect === 'allow' ? 'allow' : 'deny',
    target: { kind, name },
    subject: id === '' ? { kind: subject } : { kind: subject, id },
  };
}
const effectOf = (...rules: readonly string[]) => decidingRule(rules.map(rule), position, request)?.effect;

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

  /** Each precedes all below it, whatever the order in which they are stored. */
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
});

const anyRule: fc.Arbitrary<AccessRule> = fc
  .tuple(
    fc.constantFrom('allow', 'deny'),
    fc.constantFrom('plugin party', 'plugin chat', 'command party', 'command party add', 'tool party'),
    fc.constantFrom('user ann', 'user bob', 'role solo', 'role fixer', 'channel bar', 'category downtown', 'everyone'),
  )
  .map(([effect, target, subject]) => rule(`${effect} ${target} for ${subject}`));
const bits = new PermissionsBitField(['ViewChannel']).freeze();
const anySubject: fc.Arbitrary<Subject> = fc
  .record({ isBotOwner: fc.boolean(), isGuildOwner: fc.boolean(), accessRules: fc.array(anyRule, { maxLength: 8 }) })
  .map((some) => ({
    ...position,
    ...some,
    place: 'guild',
    guildPermissions: bits,
    adminRoles: [],
    modRoles: [],
    memberPermissions: bits,
    botPermissions: bits,
    inThread: false,
  }));
const anyRequest = fc.record({
  kind: fc.constantFrom('command' as const, 'tool' as const, 'component' as const),
  name: fc.constantFrom('party', 'party add', 'party add deep'),
  plugin: fc.constantFrom('party', 'chat'),
  policy: fc.record({ tier: fc.constantFrom(...TIERS), member: fc.subarray(['BanMembers' as const]) }),
});
const ON = { enabled: true, required: false };
const isAllowed = (reasons: ReturnType<typeof judge>) => reasons.every(({ allowed }) => allowed);
const RUNS = { numRuns: 2_000 };

describe('access rules in a decision', () => {
  it('have a denial stand whatever rule of lower precedence allows, in any order', () => {
    fc.assert(
      fc.property(anySubject, anyRequest, fc.array(anyRule, { maxLength: 4 }), (subject, wanted, more) => {
        const decisive = decidingRule(subject.accessRules, subject, wanted);
        fc.pre(decisive?.effect === 'deny');
        const level = RULE_SUBJECTS.indexOf(decisive.subject.kind);
        const lower = more.filter(({ subject: { kind } }) => RULE_SUBJECTS.indexOf(kind) > level);
        for (const accessRules of [
          [...subject.accessRules, ...lower],
          [...lower, ...subject.accessRules],
        ]) {
          expect(decidingRule(accessRules, subject, wanted)?.effect).to.equal('deny');
        }
      }),
      RUNS,
    );
  });

  it('are told as they decide: refused exactly when a reason refuses, and the rule named is the one that decides', () => {
    fc.assert(
      fc.property(anySubject, anyRequest, (subject, wanted) => {
        const reasons = judge(subject, wanted, ON);
        const told = reasons.find(({ rule }) => rule === 'access-rule');
        const decisive = subject.isBotOwner ? undefined : decidingRule(subject.accessRules, subject, wanted);
        expect(told?.allowed).to.equal(decisive === undefined ? undefined : decisive.effect === 'allow');
        if (decisive?.effect === 'deny') expect(isAllowed(reasons)).to.equal(false);
      }),
      RUNS,
    );
  });

  it('lift the tier of moderators and admins, and neither what is for owners nor a permission of Discord', () => {
    fc.assert(
      fc.property(anySubject, anyRequest, (subject, wanted) => {
        const plain = judge({ ...subject, accessRules: [] }, wanted, ON);
        const ruled = judge(subject, wanted, ON);
        if (isAllowed(plain) || !isAllowed(ruled)) return;
        expect(plain.filter(({ allowed }) => !allowed).map(({ rule }) => rule)).to.deep.equal(['tier']);
        expect(['mod', 'admin']).to.include(wanted.policy.tier);
      }),
      RUNS,
    );
  });

  it("never lock the server's owner out of what keeps the server in hand, nor the bot's owner out of anything", () => {
    fc.assert(
      fc.property(anySubject, anyRequest, (subject, wanted) => {
        const bare = { ...subject, accessRules: [] };
        const required = { enabled: true, required: true };
        if (subject.isBotOwner) expect(judge(subject, wanted, ON)).to.deep.equal(judge(bare, wanted, ON));
        if (subject.isGuildOwner) expect(judge(subject, wanted, required)).to.deep.equal(judge(bare, wanted, required));
      }),
      RUNS,
    );
  });
});
