import {
  type AccessRequest,
  type AccessRule,
  type Decision,
  RULE_SUBJECTS,
  TIERS,
  textOfRuleSubject,
  textOfRuleTarget,
} from '@cinnabar/sdk';
import { PermissionsBitField } from 'discord.js';
import fc from 'fast-check';
import { decisionAbout, type Standing } from '../core/access/harness.js';
import type { CampaignOptions, CampaignResult } from './main.js';

/**
 * Compares the rule engine with its documentation, on generated rules of a guild and of the bot's owner: no rule of lower precedence lifts a denial, a decision
 * and its explanation agree, and no rule locks an owner out. Each property is tried `rounds` times.
 */
export async function accessCampaign({ seed, rounds }: CampaignOptions): Promise<CampaignResult> {
  const violations: string[] = [];
  const counts: Record<string, number> = { cases: 0 };
  const seen = (what: string) => {
    counts[what] = (counts[what] ?? 0) + 1;
  };
  for (const [name, property] of Object.entries(propertiesOf(seen))) {
    const details = fc.check(property, { seed, numRuns: rounds });
    counts.cases = (counts.cases ?? 0) + details.numRuns;
    if (details.failed) violations.push(`${name}: ${fc.defaultReportMessage(details)}`);
  }
  return { counts, violations };
}

type RuleLevels = Standing['accessRules'];
type Level = keyof RuleLevels;
interface FoundRule {
  readonly rule: AccessRule;
  readonly level: Level;
}

const CHANNELS = ['thread', 'bar'];
const ROLES = ['solo', 'guest'];
const permissions = new PermissionsBitField(['ViewChannel']).freeze();
const administrator = new PermissionsBitField(['Administrator']).freeze();

const anyRuleSubject: fc.Arbitrary<AccessRule['subject']> = fc.constantFrom(
  ...(['ann', 'bob'] as const).map((id) => ({ kind: 'user', id }) as const),
  ...(['solo', 'guest', 'fixer'] as const).map((id) => ({ kind: 'role', id }) as const),
  ...(['thread', 'bar', 'lobby'] as const).map((id) => ({ kind: 'channel', id }) as const),
  { kind: 'category', id: 'downtown' } as const,
  { kind: 'everyone' } as const,
);
const anyOwnerRuleSubject: fc.Arbitrary<AccessRule['subject']> = fc.oneof(
  anyRuleSubject,
  fc.constantFrom(
    { kind: 'guild', id: 'night-city' } as const,
    { kind: 'guild', id: 'pacifica' } as const,
    { kind: 'guilds' } as const,
  ),
);
const anyTarget: fc.Arbitrary<AccessRule['target']> = fc.constantFrom(
  { kind: 'everything', name: 'everything' },
  { kind: 'plugin', name: 'party' },
  { kind: 'plugin', name: 'chat' },
  { kind: 'command', name: 'party' },
  { kind: 'command', name: 'party add' },
  { kind: 'tool', name: 'party' },
);
const anyRule = (subject: fc.Arbitrary<AccessRule['subject']>): fc.Arbitrary<AccessRule> =>
  fc.record({ effect: fc.constantFrom('allow', 'deny'), target: anyTarget, subject });
const anyLevels: fc.Arbitrary<RuleLevels> = fc.record({
  owner: fc.array(anyRule(anyOwnerRuleSubject), { maxLength: 5 }),
  guild: fc.array(anyRule(anyRuleSubject), { maxLength: 8 }),
});
const rarely = fc.constantFrom(false, false, false, false, true);
const anySubject: fc.Arbitrary<Standing> = fc
  .record({
    isBotOwner: rarely,
    isGuildOwner: rarely,
    isAdmin: rarely,
    inGuild: rarely.map((inDirectMessage) => !inDirectMessage),
    accessRules: anyLevels,
  })
  .map(({ isBotOwner, isGuildOwner, isAdmin, inGuild, accessRules }) => ({
    place: inGuild ? 'guild' : 'dm',
    isBotOwner,
    isGuildOwner: isGuildOwner && inGuild,
    userId: 'ann',
    hasRole: (id) => inGuild && ROLES.includes(id),
    channelIds: inGuild ? CHANNELS : ['direct'],
    categoryId: inGuild ? 'downtown' : undefined,
    guildId: inGuild ? 'night-city' : undefined,
    accessRules: inGuild ? accessRules : { ...accessRules, guild: [] },
    guildPermissions: isAdmin && inGuild ? administrator : permissions,
    adminRoles: [],
    modRoles: [],
    memberPermissions: permissions,
    botPermissions: permissions,
    inThread: false,
  }));
const anyRequest: fc.Arbitrary<AccessRequest> = fc.record({
  kind: fc.constantFrom('command', 'tool', 'component'),
  name: fc.constantFrom('party', 'party add', 'party add deep'),
  plugin: fc.constantFrom('party', 'chat'),
  policy: fc.record({
    tier: fc.constantFrom(...TIERS),
    // Mostly empty, because another refusal would hide the effect of an allowing rule.
    member: fc.constantFrom([], [], [], ['BanMembers' as const]),
  }),
});
const anyPlugin = fc.record({ enabled: fc.constantFrom(true, true, false), required: fc.boolean() });

const isFor = (subject: AccessRule['subject'], of: Standing): boolean => {
  if (subject.kind === 'everyone') return true;
  if (subject.kind === 'guilds') return of.place === 'guild';
  const id = subject.id ?? '';
  if (subject.kind === 'user') return id === of.userId;
  if (subject.kind === 'role') return of.hasRole(id);
  if (subject.kind === 'channel') return of.channelIds.includes(id);
  return id === (subject.kind === 'category' ? of.categoryId : of.guildId);
};

/** The targets of a request, most specific first, as in the table of precedence. */
function targetsOf({ kind, name, plugin }: AccessRequest): readonly AccessRule['target'][] {
  const words = name.split(' ');
  const paths = kind === 'command' ? words.map((_, index) => words.slice(0, words.length - index).join(' ')) : [name];
  const own = kind === 'component' ? [] : paths.map((path) => ({ kind, name: path }));
  return [...own, { kind: 'plugin', name: plugin }];
}

/** Evaluates the table of precedence from the top: the first matching rule decides. */
function decidedByTable(levels: RuleLevels, of: Standing, request: AccessRequest): FoundRule | undefined {
  for (const level of ['owner', 'guild'] as const)
    for (const kind of RULE_SUBJECTS)
      for (const target of targetsOf(request))
        for (const effect of ['deny', 'allow'] as const) {
          const rule = levels[level].find(
            (one) =>
              one.effect === effect &&
              one.subject.kind === kind &&
              one.target.kind === target.kind &&
              one.target.name === target.name &&
              isFor(one.subject, of),
          );
          if (rule !== undefined) return { rule, level };
        }
  return undefined;
}

/** Whether the bot ignores the member, or the place, by the rules of one level. */
function isIgnoredBy(rules: readonly AccessRule[], of: Standing): boolean {
  const about = rules.filter(({ target, subject }) => target.kind === 'everything' && isFor(subject, of));
  const said = (kind: AccessRule['subject']['kind']) => {
    const effects = about.filter(({ subject }) => subject.kind === kind).map(({ effect }) => effect);
    return effects.includes('deny') ? 'deny' : effects[0];
  };
  const person = said('user') ?? said('role');
  const place = said('channel') ?? said('category') ?? said('guild');
  if (person === 'deny' || place === 'deny') return true;
  return person === undefined && place === undefined && (said('guilds') ?? said('everyone')) === 'deny';
}

/** The level whose rules make the bot ignore the member, if any. */
const ignoringLevel = ({ owner, guild }: RuleLevels, of: Standing): Level | undefined =>
  isIgnoredBy(owner, of) ? 'owner' : isIgnoredBy(guild, of) ? 'guild' : undefined;

/** The levels of rules that apply to the member. */
const bindingLevels = ({ isBotOwner, isGuildOwner, accessRules }: Standing, required: boolean): RuleLevels => ({
  owner: isBotOwner ? [] : accessRules.owner,
  guild: isBotOwner || (required && isGuildOwner) ? [] : accessRules.guild,
});

const WHOSE = { owner: 'a rule of the bot’s owner', guild: 'a rule of this server' };
const DOES = { allow: 'allows', deny: 'denies' };
/** The text of a rule in an explanation. */
const textOf = ({ rule: { effect, target, subject }, level }: FoundRule) =>
  `${WHOSE[level]} ${DOES[effect]} ${textOfRuleTarget(target)} ${textOfRuleSubject(subject)}`;

const reasonIn = ({ reasons }: Decision, name: string) => reasons.find(({ rule }) => rule === name);
const anyMember = anySubject.map((subject) => ({ ...subject, isBotOwner: false }));
const without = (subject: Standing, ...levels: readonly (keyof RuleLevels)[]): Standing => ({
  ...subject,
  accessRules: {
    ...subject.accessRules,
    ...Object.fromEntries(levels.map((level) => [level, []])),
  },
});

function assert(holds: boolean, sentence: string): void {
  if (!holds) throw new Error(sentence);
}

function propertiesOf(seen: (what: string) => void): Readonly<Record<string, fc.IProperty<unknown>>> {
  return {
    'a denial stands whatever rule of lower precedence allows': fc.property(
      anyMember,
      anyRequest,
      fc.array(anyRule(anyRuleSubject), { maxLength: 4 }),
      (subject, request, more) => {
        const found = decidedByTable(subject.accessRules, subject, request);
        if (found?.rule.effect !== 'deny') return;
        const rank = RULE_SUBJECTS.indexOf(found.rule.subject.kind);
        const lower = more.filter(
          ({ subject: { kind } }) => found.level === 'owner' || RULE_SUBJECTS.indexOf(kind) > rank,
        );
        const { owner, guild } = subject.accessRules;
        for (const rules of [
          [...guild, ...lower],
          [...lower, ...guild],
        ]) {
          const after = decisionAbout(request, { ...subject, accessRules: { owner, guild: rules } });
          assert(reasonIn(after, 'access-rule')?.text === textOf(found), 'an allow of lower precedence won');
        }
        seen('denials tried against lower rules');
      },
    ),
    'what the bot ignores stays ignored, whatever else is allowed': fc.property(
      anyMember,
      anyRequest,
      fc.array(anyRule(anyRuleSubject), { maxLength: 4 }),
      (subject, request, more) => {
        const { owner, guild } = subject.accessRules;
        const found = reasonIn(decisionAbout(request, subject), 'ignored');
        const level = ignoringLevel(subject.accessRules, subject);
        const isSaid = level === undefined ? found === undefined : found?.text.startsWith(`${WHOSE[level]} denies `);
        assert(isSaid === true, `ignored by ${found?.text}, not by ${level}`);
        if (level === undefined) return;
        const specific = more.filter(({ target }) => target.kind !== 'everything');
        const added = level === 'owner' ? more : specific;
        const after = decisionAbout(request, { ...subject, accessRules: { owner, guild: [...added, ...guild] } });
        assert(reasonIn(after, 'ignored') !== undefined, 'a rule of lower precedence lifted it');
        assert(!after.allowed, 'it was admitted');
        seen('ignored');
      },
    ),
    'the rule that decides is the first in the table, and is the one that is told': fc.property(
      anySubject,
      anyRequest,
      anyPlugin,
      (subject, request, plugin) => {
        const decision = decisionAbout(request, subject, plugin);
        const levels = bindingLevels(subject, plugin.required);
        const told = reasonIn(decision, 'access-rule');
        const decisive = decidedByTable(levels, subject, request);
        assert(told?.text === (decisive && textOf(decisive)), 'another rule was told');
        assert(told?.allowed === (decisive && decisive.rule.effect === 'allow'), 'told wrongly');
        if (decisive?.rule.effect === 'deny') assert(!decision.allowed, 'a denial was told, and it was allowed');
        const ignored = reasonIn(decision, 'ignored');
        const level = ignoringLevel(levels, subject);
        if (ignored !== undefined) {
          const denials = levels[level ?? 'owner'].filter(
            ({ effect, target, subject: about }) =>
              effect === 'deny' && target.kind === 'everything' && isFor(about, subject),
          );
          const texts = denials.map((rule) => textOf({ rule, level: level ?? 'owner' }));
          assert(!ignored.allowed && !decision.allowed, 'ignored, and allowed');
          assert(texts.includes(ignored.text), 'another rule was told');
        } else if (!plugin.required) assert(level === undefined, 'ignored without a word');
        seen(decision.allowed ? 'allowed' : 'refused');
        seen(decisive === undefined ? 'no rule applied' : `${decisive.level} decided: ${decisive.rule.effect}`);
      },
    ),
    'rules lift the tier of moderators and admins, and nothing else': fc.property(
      anySubject,
      anyRequest,
      anyPlugin,
      (subject, request, plugin) => {
        const plain = decisionAbout(request, without(subject, 'owner', 'guild'), plugin);
        if (plain.allowed || !decisionAbout(request, subject, plugin).allowed) return;
        const refusing = plain.reasons.filter(({ allowed }) => !allowed).map(({ rule }) => rule);
        assert(refusing.join() === 'tier', `more than a tier was lifted: ${refusing.join()}`);
        assert(request.policy.tier === 'mod' || request.policy.tier === 'admin', 'what is for owners was given');
        seen('tiers lifted');
      },
    ),
    'no owner is locked out': fc.property(anySubject, anyRequest, (subject, request) => {
      const required = { enabled: true, required: true };
      const same = (one: Standing, plugin = required) =>
        JSON.stringify(decisionAbout(request, subject, plugin)) === JSON.stringify(decisionAbout(request, one, plugin));
      if (subject.isBotOwner)
        assert(
          same(without(subject, 'owner', 'guild'), { enabled: true, required: false }),
          'a rule bound the owner of the bot',
        );
      if (subject.isGuildOwner)
        assert(same(without(subject, 'guild')), 'a rule of a guild bound its owner in its administration');
      const admin = subject.guildPermissions.has('Administrator');
      const forPlaces = subject.accessRules.guild.every(
        ({ target, subject: { kind } }) => target.kind === 'everything' && kind !== 'user' && kind !== 'role',
      );
      if (admin && forPlaces) assert(same(without(subject, 'guild')), 'an ignored place locked its admins out');
    }),
  };
}
