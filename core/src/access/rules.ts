import {
  type AccessRequest,
  type AccessRule,
  type AccessRules,
  CinnabarError,
  type Collection,
  type PersonalData,
  RULE_SUBJECTS,
  RULE_TARGETS,
  type TierRoles,
  t,
  textOfRuleSubject,
  textOfRuleTarget,
  UserError,
  z,
} from '@cinnabar/sdk';
import type { GuildState, GuildStates, OwnerState } from '../contracts.js';

const snowflake = z.string().regex(/^\d{15,22}$/);

const WITHOUT_ID: ReadonlySet<string> = new Set<AccessRule['subject']['kind']>(['guilds', 'everyone']);

/** A rule as it is stored. */
export const accessRuleSchema = z.object({
  effect: z.enum(['allow', 'deny']),
  target: z.object({ kind: z.enum(RULE_TARGETS), name: z.string().min(1).max(150) }),
  subject: z
    .object({ kind: z.enum(RULE_SUBJECTS), id: snowflake.optional() })
    .refine(({ kind, id }) => (id === undefined) === WITHOUT_ID.has(kind), {
      error: 'everyone has no id, and every other subject has one',
    }),
});

/** Enough for every role and channel that matters; each decision looks at all of them. */
export const MOST_RULES = 200;
/** Limit for the bot's owner: enough for the blocked users of many servers. */
const MOST_OWNER_RULES = 2_000;
export const MOST_ROLES = 50;

/** The subject and the place of a decision, as rules name them. */
export interface RulePosition {
  readonly userId: string;
  hasRole(id: string): boolean;
  /** The channel, and for a thread also the channel that it belongs to. */
  readonly channelIds: readonly string[];
  readonly categoryId: string | undefined;
  /** `undefined` in a direct message. */
  readonly guildId: string | undefined;
}

/** The rules that can apply to a decision, those of higher precedence first: the bot owner's, then the guild's. */
export interface RuleLevels {
  readonly owner: readonly AccessRule[];
  readonly guild: readonly AccessRule[];
}

type RuleLevel = keyof RuleLevels;
const LEVELS: readonly RuleLevel[] = ['owner', 'guild'];

export interface FoundRule {
  readonly rule: AccessRule;
  readonly level: RuleLevel;
}

type RuleRequest = Pick<AccessRequest, 'kind' | 'name' | 'plugin'>;

/**
 * The rule that decides about a command, component or tool, if any applies. Precedence, fixed:
 * 1. the bot owner's rules before those of the guild;
 * 2. the subject: user, role, channel (or thread), category, guild, every guild, everyone;
 * 3. the target: a subcommand before its command, a command or tool before its plugin;
 * 4. `deny` before `allow`.
 * The first criterion in which two rules differ decides, so that a later rule never overrides one of higher precedence. Rules about everything are not
 * compared here: `ignoringRule` evaluates them.
 */
export function decidingRule(levels: RuleLevels, position: RulePosition, request: RuleRequest): FoundRule | undefined {
  for (const level of LEVELS) {
    const rule = decidingAmong(levels[level], position, request);
    if (rule !== undefined) return { rule, level };
  }
  return undefined;
}

function decidingAmong(
  rules: readonly AccessRule[],
  position: RulePosition,
  request: RuleRequest,
): AccessRule | undefined {
  let best: AccessRule | undefined;
  let bestRank: Rank | undefined;
  for (const rule of rules) {
    const closeness = closenessOf(rule.target, request);
    if (closeness === undefined || !isAbout(rule.subject, position)) continue;
    const rank = [RULE_SUBJECTS.indexOf(rule.subject.kind), -closeness, rule.effect === 'deny' ? 0 : 1] as const;
    if (bestRank !== undefined && !precedes(rank, bestRank)) continue;
    best = rule;
    bestRank = rank;
  }
  return best;
}

/** Kinds of subjects whose rules about everything are evaluated separately: members, places, and everyone else. */
const PARTIES = {
  person: ['user', 'role'],
  place: ['channel', 'category', 'guild'],
  rest: ['guilds', 'everyone'],
} as const satisfies Readonly<Record<string, readonly AccessRule['subject']['kind'][]>>;

/**
 * The rule that makes the bot ignore a member or place, if there is one. A denial at either level, the bot owner's or the guild's, suffices. Within a level,
 * a rule for the member precedes one for their roles, a rule for the channel precedes one for its category and its guild, and `deny` precedes `allow`. A denial
 * for everyone does not apply to members who are allowed by a rule for themselves, their roles or their place.
 */
export function ignoringRule(levels: RuleLevels, position: RulePosition): FoundRule | undefined {
  for (const level of LEVELS) {
    const rule = ignoringAmong(levels[level], position);
    if (rule !== undefined) return { rule, level };
  }
  return undefined;
}

function ignoringAmong(rules: readonly AccessRule[], position: RulePosition): AccessRule | undefined {
  if (!hasRulesAboutEverything(rules)) return undefined;
  const about = rules.filter(({ target, subject }) => target.kind === 'everything' && isAbout(subject, position));
  const first = (kinds: readonly AccessRule['subject']['kind'][]) => {
    for (const kind of kinds) {
      const ofKind = about.filter(({ subject }) => subject.kind === kind);
      const decisive = ofKind.find(({ effect }) => effect === 'deny') ?? ofKind[0];
      if (decisive !== undefined) return decisive;
    }
    return undefined;
  };
  const person = first(PARTIES.person);
  if (person?.effect === 'deny') return person;
  const place = first(PARTIES.place);
  if (place?.effect === 'deny') return place;
  const rest = first(PARTIES.rest);
  return rest?.effect === 'deny' && person === undefined && place === undefined ? rest : undefined;
}

const aboutEverything = new WeakMap<readonly AccessRule[], boolean>();

/** Cached per array of rules, because it is called for every message. */
export function hasRulesAboutEverything(rules: readonly AccessRule[]): boolean {
  if (rules.length === 0) return false;
  let known = aboutEverything.get(rules);
  if (known === undefined) {
    known = rules.some(({ target }) => target.kind === 'everything');
    aboutEverything.set(rules, known);
  }
  return known;
}

type Rank = readonly [subject: number, target: number, effect: number];

function precedes(rank: Rank, other: Rank): boolean {
  const differs = rank.findIndex((part, index) => part !== other[index]);
  return differs !== -1 && (rank[differs] ?? 0) < (other[differs] ?? 0);
}

/** 0 for a rule about the plugin, otherwise the number of words in the name that the rule gives; `undefined` when the rule has another target. */
function closenessOf(target: AccessRule['target'], { kind, name, plugin }: RuleRequest): number | undefined {
  if (target.kind === 'plugin') return target.name === plugin ? 0 : undefined;
  if (target.kind !== kind) return undefined;
  if (target.name === name) return target.name.split(' ').length;
  return kind === 'command' && name.startsWith(`${target.name} `) ? target.name.split(' ').length : undefined;
}

function isAbout({ kind, id }: AccessRule['subject'], position: RulePosition): boolean {
  if (kind === 'everyone') return true;
  if (kind === 'guilds') return position.guildId !== undefined;
  if (id === undefined) return false;
  if (kind === 'user') return id === position.userId;
  if (kind === 'role') return position.hasRole(id);
  if (kind === 'channel') return position.channelIds.includes(id);
  if (kind === 'guild') return id === position.guildId;
  return id === position.categoryId;
}

const RULE_TEXTS: Readonly<Record<`${RuleLevel} ${AccessRule['effect']}`, (what: string, subject: string) => string>> =
  {
    'owner allow': (what, subject) => t('a rule of the bot’s owner allows {what} {subject}', { what, subject }),
    'owner deny': (what, subject) => t('a rule of the bot’s owner denies {what} {subject}', { what, subject }),
    'guild allow': (what, subject) => t('a rule of this server allows {what} {subject}', { what, subject }),
    'guild deny': (what, subject) => t('a rule of this server denies {what} {subject}', { what, subject }),
  };

/** A rule as a clause: "a rule of this server denies the command `party add` for the role @Guests". */
export function textOfRule({ rule: { effect, target, subject }, level }: FoundRule): string {
  return RULE_TEXTS[`${level} ${effect}`](textOfRuleTarget(target), textOfRuleSubject(subject));
}

const invalid = (key: string, detail: string) => new CinnabarError('CINNABAR_SETTING_INVALID', { key, detail });

/** Whether two rules are about the same subject and target, whatever their effects. */
export const sameSlot = (rule: AccessRule, other: AccessRule) =>
  rule.target.kind === other.target.kind &&
  rule.target.name === other.target.name &&
  rule.subject.kind === other.subject.kind &&
  rule.subject.id === other.subject.id;

/** Subjects for rules of the bot's owner only: a guild's rules apply within that guild anyway. */
const OF_THE_OWNER: ReadonlySet<AccessRule['subject']['kind']> = new Set(['guild', 'guilds']);

/** The access rules of guilds, stored in the guild states, and those of the bot's owner, in the owner state. */
export function createAccessRules(states: GuildStates, ownerState: OwnerState): AccessRules {
  const checked = (guildId: string | null, rules: readonly AccessRule[]): readonly AccessRule[] => {
    const most = guildId === null ? MOST_OWNER_RULES : MOST_RULES;
    if (rules.length > most) throw invalid('access', t('there are at most {most} rules', { most }));
    return rules.map((rule) => {
      const reading = accessRuleSchema.safeParse(rule);
      if (!reading.success) throw invalid('access', reading.error.issues[0]?.message ?? t('a rule is malformed'));
      if (guildId !== null && OF_THE_OWNER.has(rule.subject.kind))
        throw invalid('access', t('only rules of the bot’s owner are about servers'));
      return reading.data;
    });
  };
  const update: AccessRules['update'] = async (guildId, change) => {
    const next = (rules: readonly AccessRule[]) => {
      const changed = change(rules);
      return changed === rules ? rules : checked(guildId, withoutDoubles(changed));
    };
    if (guildId === null) await ownerState.update((draft) => ({ ...draft, accessRules: next(draft.accessRules) }));
    else await states.update(guildId, (draft) => ({ ...draft, accessRules: next(draft.accessRules) }));
  };

  return {
    async list(guildId) {
      return (guildId === null ? ownerState.peek() : await states.load(guildId)).accessRules;
    },
    update,
    set: (guildId, rule) => update(guildId, (rules) => [...rules, rule]),
    async replace(guildId, rules) {
      // Finds a mistake in the rules before the document is written.
      const next = checked(guildId, withoutDoubles(rules));
      await update(guildId, () => next);
    },
    async clear(guildId, matches) {
      let removed: readonly AccessRule[] = [];
      await update(guildId, (rules) => {
        removed = rules.filter(matches);
        return removed.length === 0 ? rules : rules.filter((rule) => !removed.includes(rule));
      });
      return removed;
    },
  };
}

/** Keeps the last rule for each target and subject. */
function withoutDoubles(rules: readonly AccessRule[]): readonly AccessRule[] {
  return rules.filter((rule, index) => rules.findLastIndex((other) => sameSlot(rule, other)) === index);
}

const ROLES_OF = { mod: 'modRoles', admin: 'adminRoles' } as const satisfies Record<string, keyof GuildState>;

/** The roles of moderators and admins, stored in the guild states. */
export function createTierRoles(states: GuildStates): TierRoles {
  return {
    list: async (guildId, tier) => (await states.load(guildId))[ROLES_OF[tier]],
    async add(guildId, tier, roleId) {
      // The id of the role `@everyone` is the id of the guild.
      if (roleId === guildId) throw new UserError(t('everyone cannot be that'));
      let isNew = false;
      await states.update(guildId, (draft) => {
        const roles = draft[ROLES_OF[tier]];
        isNew = !roles.includes(roleId);
        if (!isNew) return draft;
        if (roles.length >= MOST_ROLES)
          throw invalid('roles', t('a server has at most {count} roles of a tier', { count: MOST_ROLES }));
        return { ...draft, [ROLES_OF[tier]]: [...roles, roleId] };
      });
      return isNew;
    },
    async remove(guildId, tier, roleId) {
      let was = false;
      await states.update(guildId, (draft) => {
        const roles = draft[ROLES_OF[tier]];
        was = roles.includes(roleId);
        return { ...draft, [ROLES_OF[tier]]: roles.filter((id) => id !== roleId) };
      });
      return was;
    },
  };
}

/** Makes a predicate for the rules whose subject is this user. */
export const names =
  (userId: string) =>
  ({ subject }: AccessRule): boolean =>
    subject.kind === 'user' && subject.id === userId;

/** Makes a predicate for the rules that allow something to this user. */
export const admits =
  (userId: string) =>
  (rule: AccessRule): boolean =>
    rule.effect === 'allow' && names(userId)(rule);

/**
 * The rules that name a member, for the export and deletion of their data. Rules that allow something are deleted; rules that deny or ignore stay: a blocked
 * member must not lift the block by asking to be forgotten.
 */
export function personalRules(
  guilds: Pick<Collection<{ readonly accessRules: readonly AccessRule[] }>, 'entries'>,
  states: Pick<GuildStates, 'update'>,
  ownerState: OwnerState,
): PersonalData {
  return {
    async export(userId) {
      const found: Record<string, readonly AccessRule[]> = {};
      const everywhere = ownerState.peek().accessRules.filter(names(userId));
      if (everywhere.length > 0) found.everywhere = everywhere;
      for await (const [guildId, { accessRules }] of guilds.entries()) {
        const theirs = accessRules.filter(names(userId));
        if (theirs.length > 0) found[guildId] = theirs;
      }
      return found;
    },
    async forget(userId) {
      const isAdmission = admits(userId);
      if (ownerState.peek().accessRules.some(isAdmission))
        await ownerState.update((draft) => ({
          ...draft,
          accessRules: draft.accessRules.filter((rule) => !isAdmission(rule)),
        }));
      for await (const [guildId, { accessRules }] of guilds.entries()) {
        if (!accessRules.some(isAdmission)) continue;
        await states.update(guildId, (draft) => ({
          ...draft,
          accessRules: draft.accessRules.filter((rule) => !isAdmission(rule)),
        }));
      }
    },
    stays: ['rules by which admins of a server, or the owner of the bot, refuse you something'],
  };
}
