import type { BudgetLimits, DayLimit } from '@cinnabar/sdk';

/** Limits of which both have to hold. */
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
