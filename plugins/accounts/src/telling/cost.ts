import { type Actor, type Clock, formatCount, formatUsd } from '@cinnabar/sdk';
import type { AccountStores } from '../collections.js';
import { type Account, addSums, dayOf, lastDays, NO_USE, type Sum } from '../sums/days.js';

const DAYS = 7;
const TOP_CHANNELS = 5;

export type CostView = 'channel' | 'guild' | 'day';

const THIS_BOT_ALONE = '-# This is what this bot has used, and budgets hold for it alone: other bots count their own.';

/** What has been used: `day` is today, the asking member's own and the channel's; the others are the last days of one account. */
export async function costText(
  view: CostView,
  actor: Actor,
  stores: Omit<AccountStores, 'receipts'>,
  clock: Pick<Clock, 'now'>,
): Promise<string> {
  const now = clock.now();
  const { guildId, channelId, userId } = actor;
  const channel = await stores.channelAccounts.of(channelId).get();
  if (view === 'channel') return days('This channel', channel, now);
  if (view === 'guild') {
    if (guildId === null) return 'This is a direct message: `!cost channel` tells what it has used.';
    const guild = await stores.guildAccounts.of(guildId).get();
    return [days('This server', guild, now), ...topChannels(guild, now), THIS_BOT_ALONE].join('\n');
  }
  const own = guildId === null ? [] : [await stores.memberAccounts.of({ userId, guildId }).get()];
  return [
    `**Today** (${dayOf(now)} UTC)`,
    ...own.map((account) => `You: ${line(today(account, now))}`),
    `This channel: ${line(today(channel, now))}`,
  ].join('\n');
}

function days(whose: string, account: Account, now: number): string {
  const dates = lastDays(now, DAYS);
  const used = dates.map((date) => [date, account.days[date] ?? NO_USE] as const).filter(([, { runs }]) => runs > 0);
  if (used.length === 0) return `**${whose}** has used nothing in the last ${DAYS} days.`;
  return [
    `**${whose}**, last ${DAYS} days (UTC): ${line(addSums(used.map(([, sum]) => sum)))}`,
    ...used.map(([date, sum]) => `${date}: ${line(sum)}`),
  ].join('\n');
}

function topChannels({ channels }: Account, now: number): readonly string[] {
  if (channels?.day !== dayOf(now)) return [];
  const top = Object.entries(channels.tokens)
    .sort(([, a], [, b]) => b - a)
    .slice(0, TOP_CHANNELS);
  return [`Today by channel: ${top.map(([id, tokens]) => `<#${id}> ${formatCount(tokens)}`).join(', ')} tokens`];
}

function today(account: Account, now: number): Sum {
  return account.days[dayOf(now)] ?? NO_USE;
}

function line({ runs, tokens, usd, unpriced, usage }: Sum): string {
  if (runs === 0 && tokens === 0) return 'nothing yet';
  const prompt = usage.inputTokens + usage.cacheCreationTokens + usage.cacheReadTokens;
  const cached = prompt === 0 ? 0 : Math.round((100 * usage.cacheReadTokens) / prompt);
  const missing = unpriced === 0 ? '' : `, without ${unpriced} of unknown price`;
  return `${runs} ${runs === 1 ? 'run' : 'runs'}, ${formatCount(tokens)} tokens (${cached}% of the prompts read from the cache), ${formatUsd(usd)}${missing}`;
}
