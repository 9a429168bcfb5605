import {
  type Amount,
  type BudgetLimits,
  type DayLimit,
  type DecisionReason,
  formatCount,
  formatUsd,
} from '@cinnabar/sdk';
import { type Account, dayOf, NO_USE, nextDay } from '../sums/days.js';

export type Holder = keyof BudgetLimits;

const WHOSE: Readonly<Record<Holder, string>> = {
  guild: "this server's budget",
  channel: "this channel's budget",
  member: 'your budget',
};

export function isLimited({ tokensPerDay, usdPerDay }: DayLimit): boolean {
  return tokensPerDay !== undefined || usdPerDay !== undefined;
}

/** Whether there is room for one more piece of work: one may exceed a budget, the next one waits for the next day. */
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
