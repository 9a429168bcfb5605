import {
  type Actor,
  type Amount,
  type BudgetLimits,
  type DayLimit,
  type DecisionReason,
  type Document,
  formatCount,
  formatUsd,
} from '@cinnabar/sdk';
import type { AccountStores } from './context.js';
import { type Account, dayOf, NO_USE, nextDay } from './daily-sums.js';

export type Holder = keyof BudgetLimits;

const WHOSE: Readonly<Record<Holder, string>> = {
  guild: "this server's budget",
  channel: "this channel's budget",
  member: 'your budget',
};

function isLimited({ tokensPerDay, usdPerDay }: DayLimit): boolean {
  return tokensPerDay !== undefined || usdPerDay !== undefined;
}

/** Whether a budget admits one more piece of work: one may exceed it, the next one waits for the next day. */
export function judge(holder: Holder, limit: DayLimit, account: Account, now: number, most?: Amount): DecisionReason {
  const used = account.days[dayOf(now)] ?? NO_USE;
  const held = account.held.filter(({ until }) => until > now);
  const tokens = used.tokens + held.reduce((sum, hold) => sum + hold.tokens, 0);
  const usd = used.usd + held.reduce((sum, hold) => sum + hold.usd, 0);
  const rule = `budget-${holder}`;
  const { tokensPerDay, usdPerDay } = limit;
  const over = (spent: string, of: string) => {
    const waiting = held.length === 0 ? '' : `, with ${held.length} being written`;
    return {
      rule,
      allowed: false,
      text: `${WHOSE[holder]} for today is used up: ${spent} of ${of}${waiting}; ${reset(now)}`,
    };
  };
  if (tokensPerDay !== undefined && tokens >= tokensPerDay) {
    return over(formatCount(tokens), `${formatCount(tokensPerDay)} tokens`);
  }
  if (usdPerDay !== undefined && usd >= usdPerDay) return over(formatUsd(usd), formatUsd(usdPerDay));
  if (usdPerDay !== undefined && most !== undefined && most.usd === null) {
    const text = `${WHOSE[holder]} is in dollars, but the price of the model is not known: the owner of the bot can set one`;
    return { rule, allowed: false, text };
  }
  return { rule, allowed: true, text: `${WHOSE[holder]} for today has room` };
}

function reset(now: number): string {
  const minutes = Math.ceil((nextDay(now) - now) / 60_000);
  const left = minutes < 60 ? `${minutes} min` : `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
  return `it starts anew at midnight UTC, in ${left}`;
}

/** The stricter of both limits. */
export function strictest(a: BudgetLimits, b: BudgetLimits): BudgetLimits {
  return { guild: both(a.guild, b.guild), channel: both(a.channel, b.channel), member: both(a.member, b.member) };
}

function both(a: DayLimit = {}, b: DayLimit = {}): DayLimit {
  return {
    tokensPerDay: least(a.tokensPerDay, b.tokensPerDay),
    usdPerDay: least(a.usdPerDay, b.usdPerDay),
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

/** The accounts that have a limit. A direct message has one account, for which the channel's and the member's limits hold. */
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
