import {
  type Actor,
  type BudgetLimits,
  type DayLimit,
  formatCount,
  formatUsd,
  type GuildFileContext,
  guildFilePart,
  t,
  UserError,
  z,
} from '@cinnabar/sdk';
import type { Client } from 'discord.js';
import { createLimitsInForce, isLimited, type LimitsInForce, strictest } from './budgets.js';
import type { AccountsContext, collections, settings } from './service.js';

const amount = z.number().min(0).optional();
const amounts = { tokensPerDay: amount, usdPerDay: amount, tokensPerMonth: amount, usdPerMonth: amount };
export const limitSchema = z.object(amounts);
const limits = z.object({
  guild: limitSchema.prefault({}),
  channel: limitSchema.prefault({}),
  member: limitSchema.prefault({}),
});

/** The limits of a guild that are set in Discord. */
export const guildBudgetsSchema = z.object({
  /** Set by the bot's owner: the maximum for the choices of the guild's admins. */
  ceiling: limits.prefault({}),
  /** Set by the guild's admins. */
  chosen: limits.prefault({}),
  /** Set by the guild's admins for members with a role, in place of the limits for members: the most generous limit of a member's roles applies. */
  roles: z.record(z.string(), limitSchema).default({}),
});
type GuildBudgets = z.output<typeof guildBudgetsSchema>;
export type Limit = z.output<typeof limitSchema>;
/** Strict: a mistyped key must not remove a limit. */
const limitOfFile = z.strictObject(amounts);
export type LimitName = keyof Limit;

export const NAMES = [
  'tokensPerDay',
  'usdPerDay',
  'tokensPerMonth',
  'usdPerMonth',
] as const satisfies readonly LimitName[];
/** Maximum number of roles with limits. */
const MOST_ROLES = 25;

/** The limits in force in a guild: those of the files, the bot owner's maximum, and the admins' choices; the strictest of each applies. */
export function createGuildLimits(
  { client, collections: { guildBudgets } }: Pick<AccountsContext, 'client' | 'collections'>,
  ofFiles: LimitsInForce,
): (actor: Actor) => Promise<BudgetLimits> {
  return async (actor) => {
    const files = await ofFiles(actor.guildId);
    if (actor.guildId === null) return files;
    const own = await guildBudgets.of(actor.guildId).find();
    if (own === undefined) return files;
    const ofRoles = await generousOf(client, actor, own);
    const chosen = ofRoles === undefined ? own.chosen : { ...own.chosen, member: ofRoles };
    return strictest(files, strictest(own.ceiling, chosen));
  };
}

/** The section of a guild's file with the admins' choices. The maximum, which the bot's owner sets, is not part of the file. */
export const budgetsOfFile = guildFilePart({
  schema: z.strictObject({
    server: limitOfFile.prefault({}),
    channel: limitOfFile.prefault({}),
    member: limitOfFile.prefault({}),
    roles: z.record(z.string().meta({ kind: 'role' }), limitOfFile).default({}),
  }),
  async read({ guildId, collections }: BudgetFileContext) {
    const { chosen, roles } = await budgetsIn(collections, guildId);
    return { server: chosen.guild, channel: chosen.channel, member: chosen.member, roles };
  },
  async problemsOf({ roles, ...chosen }, { guildId, collections, configuration, log }: BudgetFileContext) {
    const ofFiles = createLimitsInForce(configuration, log);
    const ceiling = strictest(await ofFiles(guildId), (await budgetsIn(collections, guildId)).ceiling);
    const above = (at: readonly string[], most: DayLimit, wanted: Limit) => {
      const problem = aboveCeiling(most, wanted);
      return problem === undefined ? [] : [{ at, problem }];
    };
    return [
      ...WHOSE.flatMap((whose) => above([whose], ceiling[KEYS[whose]] ?? {}, chosen[whose])),
      ...Object.entries(roles).flatMap(([id, one]) => above(['roles', id], ceiling.member ?? {}, one)),
      ...(Object.keys(roles).length > MOST_ROLES ? [{ at: ['roles'], problem: tooManyRoles() }] : []),
    ];
  },
  async write({ roles, server, channel, member }, { guildId, collections }: BudgetFileContext) {
    await collections.guildBudgets.of(guildId).update((draft) => {
      draft.chosen = { guild: server, channel, member };
      draft.roles = roles;
    });
  },
});

type BudgetFileContext = GuildFileContext<typeof settings, typeof collections>;

const budgetsIn = async ({ guildBudgets }: AccountsContext['collections'], guildId: string) =>
  guildBudgetsSchema.parse((await guildBudgets.of(guildId).find()) ?? {});

const tooManyRoles = () => t('At most {most} roles can have a limit of their own.', { most: MOST_ROLES });

/** Why a limit is too high; `undefined` when it is not. */
function aboveCeiling(ceiling: DayLimit, wanted: Limit): string | undefined {
  const name = NAMES.find((one) => (wanted[one] ?? 0) > (ceiling[one] ?? Number.POSITIVE_INFINITY));
  return name === undefined
    ? undefined
    : t('The owner of the bot allows at most {limit} here.', { limit: textOfLimit({ [name]: ceiling[name] }) });
}

/** The roles of a member that have limits. */
async function limitedRolesOf(
  client: Client,
  { guildId, userId }: Actor,
  { roles }: GuildBudgets,
): Promise<readonly (readonly [id: string, limit: Limit])[]> {
  if (guildId === null || Object.keys(roles).length === 0) return [];
  const guild = client.guilds.cache.get(guildId);
  // A member who cannot be looked up counts as one without roles.
  const member = guild?.members.cache.get(userId) ?? (await guild?.members.fetch(userId).catch(() => undefined));
  return Object.entries(roles).filter(([id]) => member?.roles.cache.has(id) === true);
}

/** The most generous limits of a member's roles; `undefined` when none of them has limits. */
async function generousOf(client: Client, actor: Actor, own: GuildBudgets) {
  const held = (await limitedRolesOf(client, actor, own)).map(([, limit]) => limit);
  if (held.length === 0) return undefined;
  const most = (name: LimitName) => {
    const values = held.map((one) => one[name]);
    return values.includes(undefined) ? undefined : Math.max(...values.map((value) => value ?? 0));
  };
  return Object.fromEntries(NAMES.map((name) => [name, most(name)])) satisfies DayLimit;
}

/** How to raise a used-up budget, and who can: the person who set the limit. */
export function createBudgetRemedies(
  { client, collections: { guildBudgets } }: Pick<AccountsContext, 'client' | 'collections'>,
  ofFiles: LimitsInForce,
) {
  return async (
    actor: Actor,
    holder: keyof BudgetLimits,
    isRefusedBy: (limit: DayLimit) => boolean,
  ): Promise<string> => {
    const { guildId } = actor;
    const whose = WHOSE.find((name) => KEYS[name] === holder) ?? 'server';
    if (guildId === null || isRefusedBy((await ofFiles(guildId))[holder] ?? {}))
      return t('Wait, or have the owner of the bot raise it in the configuration.');
    const own = guildBudgetsSchema.parse((await guildBudgets.of(guildId).find()) ?? {});
    if (isRefusedBy(own.ceiling[holder]))
      return t('Wait, or have the owner of the bot lift it with `budget ceiling {whose} off`, or set it higher.', {
        whose,
      });
    const held = holder === 'member' ? await limitedRolesOf(client, actor, own) : [];
    const [role] = held.find(([, limit]) => isRefusedBy(limit)) ?? [];
    if (role !== undefined)
      return t('Wait, or have an admin lift it with `budget role {role} off`, or set it higher.', {
        role: roleOf(role, guildId),
      });
    if (isRefusedBy(own.chosen[holder]))
      return t('Wait, or have an admin lift it with `budget set {whose} off`, or set it higher.', { whose });
    return t('Wait. It is a limit of the one who answers here: its settings say more.');
  };
}

/** The accounts for which admins set limits, in their terms: the server, each channel, each member. */
export const WHOSE = ['server', 'channel', 'member'] as const;
export type Whose = (typeof WHOSE)[number];
const KEYS = { server: 'guild', channel: 'channel', member: 'member' } as const;

/** The limits of a guild that are set in Discord, and their maximum. */
export interface BudgetsSet {
  /** Set by the guild's admins. */
  readonly chosen: Readonly<Record<Whose, Limit>>;
  /** Set by the guild's admins, by the id of the role. */
  readonly roles: Readonly<Record<string, Limit>>;
  /** Set by the bot's owner, in Discord. */
  readonly ceiling: Readonly<Record<Whose, Limit>>;
  /** The maximum that the admins can choose: the stricter of `ceiling` and the configuration files. */
  readonly most: Readonly<Record<Whose, DayLimit>>;
}

/** A guild's budgets, as commands and pages show and change them. Each change resolves with a sentence about the new limits. */
export type BudgetEditor = ReturnType<typeof createBudgetEditor>;

export function createBudgetEditor(
  { collections: { guildBudgets } }: Pick<AccountsContext, 'collections'>,
  ofFiles: LimitsInForce,
) {
  const read = async (guildId: string): Promise<BudgetsSet> => {
    const { chosen, ceiling, roles } = guildBudgetsSchema.parse((await guildBudgets.of(guildId).find()) ?? {});
    const most = strictest(await ofFiles(guildId), ceiling);
    return {
      chosen: byWhose((holder) => chosen[holder]),
      ceiling: byWhose((holder) => ceiling[holder]),
      most: byWhose((holder) => most[holder] ?? {}),
      roles,
    };
  };
  const change = (guildId: string, by: (draft: GuildBudgets) => unknown) => guildBudgets.of(guildId).update(by);
  /** @throws UserError when the owner of the bot allows less */
  const assertBelow = (most: DayLimit, wanted: LimitChange) => {
    const problem = wanted === OFF ? undefined : aboveCeiling(most, wanted);
    if (problem !== undefined) throw new UserError(problem);
  };
  return {
    read,
    async set(guildId: string, whose: Whose, wanted: LimitChange): Promise<string> {
      assertBelow((await read(guildId)).most[whose], wanted);
      const { chosen } = await change(guildId, (draft) => {
        draft.chosen[KEYS[whose]] = changed(draft.chosen[KEYS[whose]], wanted);
      });
      return t('{whose}: {limit}.', { whose: nameOf(whose), limit: textOfLimit(chosen[KEYS[whose]]) });
    },
    async setRole(guildId: string, roleId: string, wanted: LimitChange): Promise<string> {
      assertBelow((await read(guildId)).most.member, wanted);
      const { roles, chosen } = await change(guildId, (draft) => {
        const limit = changed(draft.roles[roleId] ?? {}, wanted);
        if (!isLimited(limit)) delete draft.roles[roleId];
        else if (draft.roles[roleId] === undefined && Object.keys(draft.roles).length >= MOST_ROLES)
          throw new UserError(tooManyRoles());
        else draft.roles[roleId] = limit;
      });
      const role = roleOf(roleId, guildId);
      const own = roles[roleId];
      return own === undefined
        ? t('Members of {role} have no limit of their own any more. Each member: {limit}.', {
            role,
            limit: textOfLimit(chosen.member),
          })
        : t('Members of {role}: {limit}.', { role, limit: textOfLimit(own) });
    },
    async setCeiling(guildId: string, whose: Whose, wanted: LimitChange): Promise<string> {
      await change(guildId, ({ ceiling }) => {
        ceiling[KEYS[whose]] = changed(ceiling[KEYS[whose]], wanted);
      });
      const limit = textOfLimit((await read(guildId)).most[whose]);
      return t('{whose}: at most {limit}.', { whose: nameOf(whose), limit });
    },
  };
}

const byWhose = <T>(of: (holder: keyof BudgetLimits) => T): Readonly<Record<Whose, T>> => ({
  server: of('guild'),
  channel: of('channel'),
  member: of('member'),
});

/** Removes all limits. */
export const OFF = 'off';
/** Limits to set or, if they are `undefined`, to remove; others do not change. */
export type LimitChange = Limit | typeof OFF;

const changed = (before: Limit, change: LimitChange): Limit => (change === OFF ? {} : { ...before, ...change });

/** A mention of a role. The role of everyone, which has the id of its guild, is shown as `@everyone`. */
export const roleOf = (id: string, guildId: string) => (id === guildId ? '@everyone' : `<@&${id}>`);

export function nameOf(holder: Whose): string {
  const names = { server: t('The server'), channel: t('Each channel'), member: t('Each member') };
  return names[holder];
}

export function textOfLimit({ tokensPerDay, usdPerDay, tokensPerMonth, usdPerMonth }: DayLimit): string {
  if (!isLimited({ tokensPerDay, usdPerDay, tokensPerMonth, usdPerMonth })) return t('no limit');
  return [
    ...(usdPerDay === undefined ? [] : [t('{amount} a day', { amount: formatUsd(usdPerDay) })]),
    ...(usdPerMonth === undefined ? [] : [t('{amount} a month', { amount: formatUsd(usdPerMonth) })]),
    ...(tokensPerDay === undefined ? [] : [t('{amount} tokens a day', { amount: formatCount(tokensPerDay) })]),
    ...(tokensPerMonth === undefined ? [] : [t('{amount} tokens a month', { amount: formatCount(tokensPerMonth) })]),
  ].join(', ');
}
