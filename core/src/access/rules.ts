import {
  type AccessRequest,
  type AccessRule,
  type AccessRules,
  CinnabarError,
  RULE_SUBJECTS,
  RULE_TARGETS,
  type TierRoles,
  textOfRuleSubject,
  z,
} from '@cinnabar/sdk';
import type { GuildState, GuildStates } from '../contracts.js';

const snowflake = z.string().regex(/^\d{15,22}$/);

/** A rule as it is stored. */
export const accessRuleSchema = z.object({
  effect: z.enum(['allow', 'deny']),
  target: z.object({ kind: z.enum(RULE_TARGETS), name: z.string().min(1).max(150) }),
  subject: z
    .object({ kind: z.enum(RULE_SUBJECTS), id: snowflake.optional() })
    .refine(({ kind, id }) => (id === undefined) === (kind === 'everyone'), {
      error: 'everyone has no id, and every other subject has one',
    }),
});

/** Enough for every role and channel that matters; each decision looks at all of them. */
const MOST_RULES = 200;
const MOST_ROLES = 50;

/** Whom and where a decision is about, as rules name them. */
export interface RulePosition {
  readonly userId: string;
  hasRole(id: string): boolean;
  /** The channel, and for a thread also the channel that it belongs to. */
  readonly channelIds: readonly string[];
  readonly categoryId: string | undefined;
}

/**
 * The rule that decides, if any applies. Precedence, fixed:
 * 1. the subject: user, role, channel (or thread), category, everyone;
 * 2. the target: a subcommand before its command, a command or tool before its plugin;
 * 3. `deny` before `allow`.
 * The first that differs decides, so that a later rule never overrides one of higher precedence.
 */
export function decidingRule(
  rules: readonly AccessRule[],
  position: RulePosition,
  request: Pick<AccessRequest, 'kind' | 'name' | 'plugin'>,
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

type Rank = readonly [subject: number, target: number, effect: number];

function precedes(rank: Rank, other: Rank): boolean {
  const differs = rank.findIndex((part, index) => part !== other[index]);
  return differs !== -1 && (rank[differs] ?? 0) < (other[differs] ?? 0);
}

/** 0 for the plugin, then one for each word of the name that the rule gives; `undefined` where the rule is about something else. */
function closenessOf(
  target: AccessRule['target'],
  { kind, name, plugin }: Pick<AccessRequest, 'kind' | 'name' | 'plugin'>,
): number | undefined {
  if (target.kind === 'plugin') return target.name === plugin ? 0 : undefined;
  if (target.kind !== kind) return undefined;
  if (target.name === name) return target.name.split(' ').length;
  return kind === 'command' && name.startsWith(`${target.name} `) ? target.name.split(' ').length : undefined;
}

function isAbout({ kind, id }: AccessRule['subject'], position: RulePosition): boolean {
  if (kind === 'everyone') return true;
  if (id === undefined) return false;
  if (kind === 'user') return id === position.userId;
  if (kind === 'role') return position.hasRole(id);
  if (kind === 'channel') return position.channelIds.includes(id);
  return id === position.categoryId;
}

/** A rule as a clause: "a rule of this server denies the command `party add` for the role @Guests". */
export function textOfRule({ effect, target, subject }: AccessRule): string {
  const verb = effect === 'allow' ? 'allows' : 'denies';
  return `a rule of this server ${verb} the ${target.kind} \`${target.name}\` ${textOfRuleSubject(subject)}`;
}

const invalid = (key: string, detail: string) => new CinnabarError('CINNABAR_SETTING_INVALID', { key, detail });

const sameSlot = (rule: AccessRule, other: AccessRule) =>
  rule.target.kind === other.target.kind &&
  rule.target.name === other.target.name &&
  rule.subject.kind === other.subject.kind &&
  rule.subject.id === other.subject.id;

/** The rules of the guilds, over the guild states. */
export function createAccessRules(states: GuildStates): AccessRules {
  const checked = (rules: readonly AccessRule[]): readonly AccessRule[] => {
    if (rules.length > MOST_RULES) throw invalid('access', `a server has at most ${MOST_RULES} rules`);
    return rules.map((rule) => {
      const reading = accessRuleSchema.safeParse(rule);
      if (!reading.success) throw invalid('access', reading.error.issues[0]?.message ?? 'a rule is malformed');
      return reading.data;
    });
  };
  const change = (guildId: string, next: (rules: readonly AccessRule[]) => readonly AccessRule[]) =>
    states.update(guildId, (draft) => ({ ...draft, accessRules: next(draft.accessRules) }));

  return {
    list: async (guildId) => (await states.load(guildId)).accessRules,
    async set(guildId, rule) {
      await change(guildId, (rules) => checked([...rules.filter((other) => !sameSlot(rule, other)), rule]));
    },
    async replace(guildId, rules) {
      const unique = rules.filter((rule, index) => rules.findLastIndex((other) => sameSlot(rule, other)) === index);
      const next = checked(unique);
      await change(guildId, () => next);
    },
    async clear(guildId, matches) {
      let removed: readonly AccessRule[] = [];
      await change(guildId, (rules) => {
        removed = rules.filter(matches);
        return rules.filter((rule) => !removed.includes(rule));
      });
      return removed;
    },
  };
}

const ROLES_OF = { mod: 'modRoles', admin: 'adminRoles' } as const satisfies Record<string, keyof GuildState>;

/** The roles of moderators and admins, over the guild states. */
export function createTierRoles(states: GuildStates): TierRoles {
  return {
    list: async (guildId, tier) => (await states.load(guildId))[ROLES_OF[tier]],
    async add(guildId, tier, roleId) {
      let isNew = false;
      await states.update(guildId, (draft) => {
        const roles = draft[ROLES_OF[tier]];
        isNew = !roles.includes(roleId);
        if (!isNew) return draft;
        if (roles.length >= MOST_ROLES) throw invalid('roles', `a server has at most ${MOST_ROLES} roles of a tier`);
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
