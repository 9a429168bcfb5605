import {
  type Actor,
  type BudgetLimits,
  type CommandContext,
  type DayLimit,
  formatCount,
  formatUsd,
  type GuildFileContext,
  guildFilePart,
  option,
  subcommand,
  t,
  UserError,
  z,
} from '@cinnabar/sdk';
import type { Client } from 'discord.js';
import { createLimitsInForce, isLimited, type LimitsInForce, strictest } from './budgets.js';
import { dayOf, NO_USE, usedIn } from './receipts.js';
import type { AccountsContext, collections, settings } from './service.js';

const amount = z.number().min(0).optional();
const amounts = { tokensPerDay: amount, usdPerDay: amount, tokensPerMonth: amount, usdPerMonth: amount };
const limit = z.object(amounts);
const limits = z.object({ guild: limit.prefault({}), channel: limit.prefault({}), member: limit.prefault({}) });

/** The limits of a guild that were set from Discord. */
export const guildBudgetsSchema = z.object({
  /** By the bot's owner: what the guild's admins choose stays below. */
  ceiling: limits.prefault({}),
  /** By the guild's admins. */
  chosen: limits.prefault({}),
  /** By the guild's admins, for the members of a role in the place of what they chose for members: the most generous of a member's roles. */
  roles: z.record(z.string(), limit).default({}),
});
type GuildBudgets = z.output<typeof guildBudgetsSchema>;
type Limit = z.output<typeof limit>;
/** A mistyped key must not pass for no limit. */
const limitOfFile = z.strictObject(amounts);
type LimitName = keyof Limit;

const NAMES = ['tokensPerDay', 'usdPerDay', 'tokensPerMonth', 'usdPerMonth'] as const satisfies readonly LimitName[];
/** A map of roles, each with its limit, must not grow without bound. */
const MOST_ROLES = 25;

/** The limits in force in a guild: those of the files, the ceilings of the bot's owner, and what the admins chose; the strictest of each counts. */
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

/** The budgets' part of a guild's file: what the admins chose. The ceilings are the bot owner's. */
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
      ...HOLDERS.flatMap((whose) => above([whose], ceiling[KEYS[whose]] ?? {}, chosen[whose])),
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

/** The roles of a member that have a limit of their own. */
async function limitedRolesOf(
  client: Client,
  { guildId, userId }: Actor,
  { roles }: GuildBudgets,
): Promise<readonly (readonly [id: string, limit: Limit])[]> {
  if (guildId === null || Object.keys(roles).length === 0) return [];
  const guild = client.guilds.cache.get(guildId);
  // Who cannot be looked up has no role that gives more.
  const member = guild?.members.cache.get(userId) ?? (await guild?.members.fetch(userId).catch(() => undefined));
  return Object.entries(roles).filter(([id]) => member?.roles.cache.has(id) === true);
}

/** The most generous limits of the roles that a member has; `undefined` when none of them has one. */
async function generousOf(client: Client, actor: Actor, own: GuildBudgets) {
  const held = (await limitedRolesOf(client, actor, own)).map(([, limit]) => limit);
  if (held.length === 0) return undefined;
  const most = (name: LimitName) => {
    const values = held.map((one) => one[name]);
    return values.includes(undefined) ? undefined : Math.max(...values.map((value) => value ?? 0));
  };
  return Object.fromEntries(NAMES.map((name) => [name, most(name)])) satisfies DayLimit;
}

/** How a budget that is used up is raised: by whoever set the limit that refuses. */
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
    const whose = HOLDERS.find((name) => KEYS[name] === holder) ?? 'server';
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

const HOLDERS = ['server', 'channel', 'member'] as const;
const KEYS = { server: 'guild', channel: 'channel', member: 'member' } as const;

/** `!budget`: what may be used in this server. */
export function registerBudgetCommands(context: AccountsContext, ofFiles: LimitsInForce): void {
  const { group, collections: stores, services } = context;
  const whose = z.enum(HOLDERS).describe('server: all together; channel: each channel; member: each member');
  const size = option.rest().describe('Such as 5 usd a day, 2M tokens a month, or off');

  const set = async (guildId: string, change: (draft: GuildBudgets) => unknown) => {
    await stores.guildBudgets.of(guildId).update(change);
  };
  /** @throws UserError when the owner of the bot allows less */
  const assertBelow = (ceiling: DayLimit, change: Partial<Limit>) => {
    const problem = aboveCeiling(ceiling, change);
    if (problem !== undefined) throw new UserError(problem);
  };
  const ceilingOf = async (guildId: string) =>
    strictest(await ofFiles(guildId), (await stores.guildBudgets.of(guildId).find())?.ceiling ?? {});

  group({
    name: 'budget',
    description: 'What answers may cost in this server',
    access: { tier: 'mod', where: 'guild' },
    help: 'Days and months are those of UTC. The limits of the configuration files and of the bot’s owner stand above what is chosen here.',
    commands: [
      subcommand({
        name: 'show',
        reads: true,
        description: 'Show the limits of this server, and what is used of them',
        async run(ctx) {
          const guildId = guildOf(ctx);
          const own = guildBudgetsSchema.parse((await stores.guildBudgets.of(guildId).find()) ?? {});
          const ceiling = await ceilingOf(guildId);
          const account = await stores.guildAccounts.of(guildId).get();
          const now = services.clock.now();
          const today = account.days[dayOf(now)] ?? NO_USE;
          const month = usedIn(account, now, 'month');
          await ctx.reply(
            [
              ...HOLDERS.map((name) => lineOf(name, own.chosen[KEYS[name]], ceiling[KEYS[name]] ?? {})),
              ...Object.entries(own.roles).map(([id, one]) =>
                t('Members of {role}: {limit}.', { role: roleOf(id, guildId), limit: textOfLimit(one) }),
              ),
              t('Used today: {day}. This month: {month}.', { day: textOfUse(today), month: textOfUse(month) }),
            ].join('\n'),
          );
        },
      }),
      subcommand({
        name: 'set',
        description: 'Limit what this server, each channel or each member may use',
        access: { tier: 'admin' },
        options: { whose, amount: size },
        examples: ['budget set server 5 usd a day', 'budget set member 200k tokens a day', 'budget set server off'],
        async run(ctx, { whose: name, amount: typed }) {
          const guildId = guildOf(ctx);
          const change = readAmount(typed);
          assertBelow((await ceilingOf(guildId))[KEYS[name]] ?? {}, change ?? {});
          await set(guildId, ({ chosen }) => {
            chosen[KEYS[name]] = changed(chosen[KEYS[name]], change);
          });
          const { chosen } = await stores.guildBudgets.of(guildId).get();
          await ctx.reply(t('{whose}: {limit}.', { whose: nameOf(name), limit: textOfLimit(chosen[KEYS[name]]) }));
        },
      }),
      subcommand({
        name: 'role',
        description: 'Give the members of a role another limit than other members have',
        access: { tier: 'admin' },
        options: { role: option.role().describe('The role'), amount: size },
        examples: ['budget role @Supporters 1M tokens a day', 'budget role @Supporters off'],
        async run(ctx, { role: { id }, amount: typed }) {
          const guildId = guildOf(ctx);
          const change = readAmount(typed);
          assertBelow((await ceilingOf(guildId)).member ?? {}, change ?? {});
          await set(guildId, ({ roles }) => {
            if (change === undefined) delete roles[id];
            else if (roles[id] === undefined && Object.keys(roles).length >= MOST_ROLES)
              throw new UserError(tooManyRoles());
            else roles[id] = changed(roles[id] ?? {}, change);
          });
          const own = (await stores.guildBudgets.of(guildId).get()).roles[id] ?? {};
          await ctx.reply(t('Members of {role}: {limit}.', { role: roleOf(id, guildId), limit: textOfLimit(own) }));
        },
      }),
      subcommand({
        name: 'ceiling',
        description: 'Set what the admins of this server can choose at most',
        access: { tier: 'botOwner' },
        options: { whose, amount: size },
        examples: ['budget ceiling server 20 usd a month'],
        async run(ctx, { whose: name, amount: typed }) {
          const guildId = guildOf(ctx);
          const change = readAmount(typed);
          await set(guildId, ({ ceiling }) => {
            ceiling[KEYS[name]] = changed(ceiling[KEYS[name]], change);
          });
          const ceiling = (await ceilingOf(guildId))[KEYS[name]] ?? {};
          await ctx.reply(t('{whose}: at most {limit}.', { whose: nameOf(name), limit: textOfLimit(ceiling) }));
        },
      }),
    ],
  });
}

function guildOf({ actor: { guildId } }: CommandContext): string {
  if (guildId === null) throw new UserError(t('This only works in a server.'));
  return guildId;
}

/** `undefined`: no limits. */
const changed = (before: Limit, change: Partial<Limit> | undefined): Limit =>
  change === undefined ? {} : { ...before, ...change };

const AMOUNT =
  /^(\$)?\s*(\d+(?:[.,]\d+)?)\s*([km])?\s*(usd|\$|dollars?|tokens?)?\s*(?:(?:a|per|each|\/)\s*)?(day|month)?$/i;
const TIMES: Readonly<Record<string, number>> = { k: 1_000, m: 1_000_000 };

/** `5 usd a day`, `$20 a month`, `200k tokens`; `undefined` for `off`. @throws UserError */
function readAmount(text: string): Partial<Limit> | undefined {
  const typed = text.trim();
  if (/^(?:off|none|no limit)$/i.test(typed)) return undefined;
  const [, sign, number = '', times = '', unit = '', period = 'day'] = AMOUNT.exec(typed) ?? [];
  const isMoney = sign !== undefined || /^(?:usd|\$|dollar)/i.test(unit);
  if (number === '' || (!isMoney && unit === ''))
    throw new UserError(t('Please write an amount such as `5 usd a day`, `2M tokens a month` or `off`.'));
  const value = Number(number.replace(',', '.')) * (TIMES[times.toLowerCase()] ?? 1);
  const isDay = period.toLowerCase() === 'day';
  if (isMoney) return isDay ? { usdPerDay: value } : { usdPerMonth: value };
  return isDay ? { tokensPerDay: Math.round(value) } : { tokensPerMonth: Math.round(value) };
}

/** The role of everyone has the id of its guild, and is no mention. */
const roleOf = (id: string, guildId: string) => (id === guildId ? '@everyone' : `<@&${id}>`);

function lineOf(holder: (typeof HOLDERS)[number], chosen: Limit, ceiling: DayLimit): string {
  const values = { whose: nameOf(holder), limit: textOfLimit(chosen) };
  if (!isLimited(ceiling)) return t('{whose}: {limit}.', values);
  return t('{whose}: {limit}; the owner of the bot allows at most {ceiling}.', {
    ...values,
    ceiling: textOfLimit(ceiling),
  });
}

function nameOf(holder: (typeof HOLDERS)[number]): string {
  const names = { server: t('The server'), channel: t('Each channel'), member: t('Each member') };
  return names[holder];
}

function textOfLimit({ tokensPerDay, usdPerDay, tokensPerMonth, usdPerMonth }: DayLimit): string {
  if (!isLimited({ tokensPerDay, usdPerDay, tokensPerMonth, usdPerMonth })) return t('no limit');
  return [
    ...(usdPerDay === undefined ? [] : [t('{amount} a day', { amount: formatUsd(usdPerDay) })]),
    ...(usdPerMonth === undefined ? [] : [t('{amount} a month', { amount: formatUsd(usdPerMonth) })]),
    ...(tokensPerDay === undefined ? [] : [t('{amount} tokens a day', { amount: formatCount(tokensPerDay) })]),
    ...(tokensPerMonth === undefined ? [] : [t('{amount} tokens a month', { amount: formatCount(tokensPerMonth) })]),
  ].join(', ');
}

const textOfUse = ({ tokens, usd }: { readonly tokens: number; readonly usd: number }) =>
  t('{usd}, {tokens} tokens', { usd: formatUsd(usd), tokens: formatCount(tokens) });
