import {
  type Actor,
  type Amount,
  type BudgetLimits,
  type ConfigLayer,
  type Configuration,
  type DayLimit,
  type DecisionReason,
  type Document,
  formatCount,
  formatUsd,
  type Logger,
  t,
  z,
} from '@cinnabar/sdk';
import { type Account, nextDay, usedIn } from './receipts.js';
import type { AccountStores } from './service.js';

const HOLDERS = ['guild', 'channel', 'member'] as const;
const LIMITS = { tokensPerDay: z.int().min(0), usdPerDay: z.number().min(0) } as const;

const of = (whose: string) =>
  z
    .strictObject({
      tokensPerDay: LIMITS.tokensPerDay.optional().describe(`Tokens that ${whose} may use in a day (UTC); 0: none`),
      usdPerDay: LIMITS.usdPerDay.optional().describe(`US dollars that ${whose} may use in a day (UTC); 0: none`),
    })
    .prefault({});

/** The plugin's section of the configuration files. */
export const budgetsConfiguration = z.object({
  budgets: z
    .strictObject({ guild: of('a server'), channel: of('a channel'), member: of('a member of a server') })
    .prefault({})
    .describe('What may be used in a day, by all responders together; without a limit when left out'),
});

interface BudgetReading {
  readonly limits: BudgetLimits;
  /** A sentence for each mistake, with file, line and key. */
  readonly problems: readonly string[];
}

type LimitName = keyof typeof LIMITS;
type Limits = ReadonlyMap<`${Holder}.${LimitName}`, number | undefined>;
const NAMES: readonly LimitName[] = ['tokensPerDay', 'usdPerDay'];

/** The limits in force; the narrowest layer takes precedence. An unreadable limit counts as 0, so that a mistake causes no costs. */
function readBudgets(layers: readonly ConfigLayer[]): BudgetReading {
  const problems: string[] = [];
  const limits = new Map(layers.flatMap((layer) => [...readLayer(layer, problems)]));
  const of = (holder: Holder): DayLimit => ({
    tokensPerDay: limits.get(`${holder}.tokensPerDay`),
    usdPerDay: limits.get(`${holder}.usdPerDay`),
  });
  return { limits: { guild: of('guild'), channel: of('channel'), member: of('member') }, problems };
}

function readLayer({ source, values, lineOf }: ConfigLayer, problems: string[]): Limits {
  const found = new Map<`${Holder}.${LimitName}`, number | undefined>();
  const reject = (path: readonly string[], holders: readonly Holder[], names: readonly LimitName[], why: string) => {
    for (const holder of holders) for (const name of names) found.set(`${holder}.${name}`, 0);
    problems.push(`${source}:${lineOf(path)}: ${path.join('.')}: ${why}. Until it is put right, nothing may be spent.`);
  };

  const { budgets } = values;
  if (budgets === undefined || budgets === null) return found;
  if (!isRecord(budgets)) reject(['budgets'], HOLDERS, NAMES, 'must be keys with values');
  else
    for (const [whose, group] of Object.entries(budgets)) {
      const holder = HOLDERS.find((name) => name === whose);
      if (holder === undefined)
        reject(['budgets', whose], HOLDERS, NAMES, `there is no such key; there are ${HOLDERS.join(', ')}`);
      else if (isRecord(group)) readGroup(holder, group);
      else if (group !== null) reject(['budgets', whose], [holder], NAMES, 'must be keys with values');
    }

  function readGroup(holder: Holder, group: Readonly<Record<string, unknown>>): void {
    // Limits come first: a limit that a misspelt key sets to 0 stays 0.
    for (const name of NAMES) {
      if (!(name in group)) continue;
      const path = ['budgets', holder, name];
      if (group[name] === null) found.set(`${holder}.${name}`, undefined);
      else {
        const parsed = LIMITS[name].safeParse(group[name]);
        if (parsed.success) found.set(`${holder}.${name}`, parsed.data);
        else reject(path, [holder], [name], parsed.error.issues[0]?.message ?? 'not valid');
      }
    }
    for (const other of Object.keys(group).filter((name) => !(name in LIMITS)))
      reject(['budgets', holder, other], [holder], NAMES, `there is no such key; there are ${NAMES.join(', ')}`);
  }
  return found;
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** The limits of the configuration files for a guild (`null`: direct messages). */
export type LimitsInForce = (guildId: string | null) => Promise<BudgetLimits>;

/** Maximum number of remembered log entries about mistakes: the files may be edited for years. */
const MAX_LOGGED = 1_000;

/** Logs each mistake once. */
export function createLimitsInForce(configuration: Pick<Configuration, 'layers'>, log: Logger): LimitsInForce {
  const logged = new Set<string>();
  return async (guildId) => {
    const { limits, problems } = readBudgets(await configuration.layers(guildId));
    for (const problem of problems.filter((one) => !logged.has(one))) {
      if (logged.size >= MAX_LOGGED) logged.clear();
      logged.add(problem);
      log.warn(problem);
    }
    return limits;
  };
}

type Holder = keyof BudgetLimits;

function budgetOf(holder: Holder): string {
  const budgets = {
    guild: t("this server's budget"),
    channel: t("this channel's budget"),
    member: t('your budget'),
  };
  return budgets[holder];
}

export function isLimited({ tokensPerDay, usdPerDay, tokensPerMonth, usdPerMonth }: DayLimit): boolean {
  return [tokensPerDay, usdPerDay, tokensPerMonth, usdPerMonth].some((limit) => limit !== undefined);
}

/** Whether a budget admits one more piece of work. That work may exceed the budget; the next one is refused until the next day or month. */
export function judge(holder: Holder, limit: DayLimit, account: Account, now: number, most?: Amount): DecisionReason {
  const rule = `budget-${holder}`;
  const { tokensPerDay, usdPerDay, tokensPerMonth, usdPerMonth } = limit;
  const text =
    excess(holder, 'day', { tokens: tokensPerDay, usd: usdPerDay }, account, now) ??
    excess(holder, 'month', { tokens: tokensPerMonth, usd: usdPerMonth }, account, now);
  if (text !== undefined) return { rule, allowed: false, text };
  const isInDollars = usdPerDay !== undefined || usdPerMonth !== undefined;
  if (isInDollars && most !== undefined && most.usd === null) {
    const unpriced = t(
      '{budget} is in dollars, but the price of the model is not known: the owner of the bot can set one',
      {
        budget: budgetOf(holder),
      },
    );
    return { rule, allowed: false, text: unpriced };
  }
  return { rule, allowed: true, text: t('{budget} for today has room', { budget: budgetOf(holder) }) };
}

interface PeriodLimit {
  readonly tokens: number | undefined;
  readonly usd: number | undefined;
}

/** Why a limit for a period is used up, as a clause; `undefined` while it is not. */
function excess(
  holder: Holder,
  period: 'day' | 'month',
  limit: PeriodLimit,
  account: Account,
  now: number,
): string | undefined {
  if (limit.tokens === undefined && limit.usd === undefined) return undefined;
  const used = usedIn(account, now, period);
  const held = account.held.filter(({ until }) => until > now);
  const tokens = used.tokens + held.reduce((sum, hold) => sum + hold.tokens, 0);
  const usd = used.usd + held.reduce((sum, hold) => sum + hold.usd, 0);
  const over = (spent: string, of: string) => {
    const values = { budget: budgetOf(holder), spent, of, held: held.length };
    return period === 'day'
      ? t(
          '{budget} for today is used up: {spent} of {of}{held, plural, =0 {} other {, with # being written}}; it starts anew at midnight UTC, in {left}',
          { ...values, left: untilMidnight(now) },
        )
      : t(
          '{budget} for this month is used up: {spent} of {of}{held, plural, =0 {} other {, with # being written}}; it starts anew on the first of the month (UTC)',
          values,
        );
  };
  if (limit.tokens !== undefined && tokens >= limit.tokens) {
    return over(formatCount(tokens), t('{count} tokens', { count: formatCount(limit.tokens) }));
  }
  if (limit.usd !== undefined && usd >= limit.usd) return over(formatUsd(usd), formatUsd(limit.usd));
  return undefined;
}

function untilMidnight(now: number): string {
  const minutes = Math.ceil((nextDay(now) - now) / 60_000);
  return minutes < 60 ? `${minutes} min` : `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
}

/** The stricter of both limits. */
export function strictest(a: BudgetLimits, b: BudgetLimits): BudgetLimits {
  return {
    guild: stricterLimit(a.guild, b.guild),
    channel: stricterLimit(a.channel, b.channel),
    member: stricterLimit(a.member, b.member),
  };
}

export function stricterLimit(a: DayLimit = {}, b: DayLimit = {}): DayLimit {
  return {
    tokensPerDay: least(a.tokensPerDay, b.tokensPerDay),
    usdPerDay: least(a.usdPerDay, b.usdPerDay),
    tokensPerMonth: least(a.tokensPerMonth, b.tokensPerMonth),
    usdPerMonth: least(a.usdPerMonth, b.usdPerMonth),
  };
}

function least(a: number | undefined, b: number | undefined): number | undefined {
  return a === undefined || b === undefined ? (a ?? b) : Math.min(a, b);
}

export interface LimitedAccount {
  readonly holder: Holder;
  readonly limit: DayLimit;
  readonly document: Document<Account>;
}

/** The accounts that have a limit. A direct message has one account, to which the channel's and the member's limits apply. */
export function limitedAccounts(
  { guildAccounts, channelAccounts, memberAccounts }: AccountStores,
  { guildId, channelId, userId }: Actor,
  { guild = {}, channel = {}, member = {} }: BudgetLimits,
): readonly LimitedAccount[] {
  const ofChannel = channelAccounts.of(channelId);
  const accounts: readonly LimitedAccount[] =
    guildId === null
      ? [
          { holder: 'channel', limit: channel, document: ofChannel },
          { holder: 'member', limit: member, document: ofChannel },
        ]
      : [
          { holder: 'guild', limit: guild, document: guildAccounts.of(guildId) },
          { holder: 'channel', limit: channel, document: ofChannel },
          { holder: 'member', limit: member, document: memberAccounts.of({ userId, guildId }) },
        ];
  return accounts.filter(({ limit }) => isLimited(limit));
}
