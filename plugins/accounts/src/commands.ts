import {
  type Actor,
  type Clock,
  formatCount,
  formatUsd,
  homeChannelOf,
  type MessageOrigin,
  plainText,
  type Receipt,
  TIERS,
  UserError,
  usageText,
  visible,
  z,
} from '@cinnabar/sdk';
import { type Account, addSums, dayOf, findReceipt, lastDays, NO_USE, type Sum } from './receipts.js';
import type { AccountStores, AccountsContext } from './service.js';

/** `!why` and `!cost`. */
export function registerCommands({ command, client, collections: stores, services }: AccountsContext): void {
  const { access, clock, origins } = services;
  command({
    name: 'why',
    description: 'Why I gave an answer, from what, and what it cost',
    help: 'As a reply to one of my answers: about that one. Otherwise about what I did last in this channel.',
    ephemeral: true,
    async run(ctx) {
      const messageId = ctx.message?.reference?.messageId;
      const origin =
        messageId === undefined ? undefined : (await origins.of(ctx.channel.id, [messageId])).get(messageId);
      if (origin !== undefined) return ctx.reply(originText(origin)).then(() => undefined);
      const receipt =
        (await findReceipt(stores.receipts, ctx.channel.id, messageId)) ??
        // A thread has the id of the message that started it: its receipts belong to the message.
        (messageId === undefined ? undefined : await findReceipt(stores.receipts, messageId));
      if (receipt === undefined) {
        throw new UserError(
          messageId === undefined
            ? 'I have not answered anything here that I have a receipt of.'
            : 'I have no receipt of that message: it is not an answer of mine, or too old.',
        );
      }
      await ctx.reply(whyText(receipt));
    },
  });
  command({
    name: 'cost',
    description: 'What answers have cost: today, in this channel or on this server',
    ephemeral: true,
    options: {
      of: z
        .enum(['day', 'channel', 'guild'])
        .default('day')
        .describe('day: you and this channel today; guild: for moderators'),
    },
    examples: ['!cost', '!cost channel', '!cost guild'],
    async run(ctx, { of }) {
      const isModerator = async () => TIERS.indexOf(await access.tierOf(ctx.actor)) >= TIERS.indexOf('mod');
      if (of === 'guild' && !(await isModerator())) {
        throw new UserError(
          'What the whole server has used is shown to its moderators. `!cost` tells your own and this channel’s.',
        );
      }
      const channelId = await homeChannelOf(client, ctx.actor.channelId);
      await ctx.reply(await costText(of, { ...ctx.actor, channelId }, stores, clock));
    },
  });
}

const DAYS = 7;
const TOP_CHANNELS = 5;

type CostView = 'channel' | 'guild' | 'day';

const THIS_BOT_ALONE = '-# This is what this bot has used, and budgets hold for it alone: other bots count their own.';

/** The use of tokens and money: `day` is today's, the requester's and the channel's; the others are the last days of one account. */
async function costText(
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

/** Why the bot acted, from which context, and what it cost. */
function whyText(receipt: Receipt): string {
  const { actor, tools, configured = [], notes = [] } = receipt;
  const heading = receipt.messageIds.length === 0 ? 'Why I was at work, without a word' : 'Why I answered';
  const model = [
    `${safe(receipt.model)} by ${safe(receipt.provider)}`,
    ...(receipt.mode === undefined ? [] : [`${receipt.mode} mode`]),
    `${receipt.calls} ${receipt.calls === 1 ? 'call' : 'calls'}`,
  ];
  return [
    `**${heading}**: ${safe(receipt.trigger)} (asked by <@${actor.userId}>, <t:${Math.floor(receipt.at / 1000)}:R>)`,
    `**Mind**: ${safe(receipt.mind)}`,
    `**Model**: ${model.join(', ')}`,
    ...receipt.details.map(detail),
    ...(receipt.missCause === undefined ? [] : [`**Cache miss**: ${safe(receipt.missCause)}`]),
    `**Tokens**: ${usageText(receipt.usage)}`,
    `**Cost**: ${receipt.cost === null ? 'the price of this model is not known' : formatUsd(receipt.cost)}`,
    ...(tools.length === 0
      ? []
      : [`**Tools**: ${tools.map(({ name, outcome }) => `${safe(name)} (${safe(outcome)})`).join(', ')}`]),
    ...(configured.length === 0 ? [] : [`**Configured**: ${configured.map(safe).join('; ')}`]),
    ...notes.map((note) => `**Note**: ${safe(note)}`),
  ].join('\n');
}

/** The text for a message of the bot that is not its own answer. */
function originText(origin: MessageOrigin): string {
  if (origin.kind === 'card') {
    const state = origin.open ? 'and waits for their 👍 or 👎' : 'and it has been decided';
    return `This is a confirmation card: it asks <@${origin.userId}> ${state}.`;
  }
  const who = origin.userId === undefined ? 'a member who has had their data deleted' : `<@${origin.userId}>`;
  return `These are not my own words: I sent this for ${who}, who had me do so through a tool.`;
}

/** `Read: 42 messages` has a heading. */
function detail(text: string): string {
  const [, heading, rest] = /^(\p{L}[\p{L} ]{0,30}): (.+)$/su.exec(text) ?? [];
  return heading === undefined || rest === undefined ? `• ${safe(text)}` : `**${heading}**: ${safe(rest)}`;
}

function safe(text: string): string {
  return plainText(visible(text));
}
