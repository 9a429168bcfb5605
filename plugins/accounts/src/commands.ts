import {
  type Actor,
  type Clock,
  type CommandContext,
  formatCount,
  formatUsd,
  homeChannelOf,
  type MessageOrigin,
  option,
  plainText,
  type Receipt,
  readDiscordLink,
  TIERS,
  t,
  UserError,
  usageText,
  visible,
  z,
} from '@cinnabar/sdk';
import { type Account, addSums, dayOf, findReceipt, lastDays, NO_USE, type Sum } from './receipts.js';
import type { AccountStores, AccountsContext } from './service.js';
import { type AskedMessage, whyNot } from './why-not.js';

/** `!why` and `!cost`. */
export function registerCommands(context: AccountsContext): void {
  const { command, client, collections: stores, services } = context;
  const { access, clock, origins } = services;
  command({
    name: 'why',
    description: 'Why I gave an answer, from what, and what it cost; or why I gave none',
    help: 'As a reply to a message, or with a link to it: about that one, also when I did not answer it. Otherwise about what I did last in this channel. Members may ask about my answers and their own messages, admins about all that they can read.',
    ephemeral: true,
    options: { link: option.rest().optional().describe('A link to a message; or give the command as a reply to it') },
    async run(ctx, { link }) {
      const asked = askedMessage(ctx, link);
      // A receipt may be shown to the members of its channel. For a message in another channel, `whyNot` checks whether the requester may read it.
      if (asked !== undefined && asked.channelId !== ctx.channel.id)
        return ctx.reply(await whyNot(context, ctx, asked)).then(() => undefined);
      const messageId = asked?.messageId;
      const origin =
        messageId === undefined ? undefined : (await origins.of(ctx.channel.id, [messageId])).get(messageId);
      if (origin !== undefined) return ctx.reply(originText(origin)).then(() => undefined);
      const receipt =
        (await findReceipt(stores.receipts, ctx.channel.id, messageId)) ??
        // A thread has the id of the message that started it: its receipts belong to the message.
        (messageId === undefined ? undefined : await findReceipt(stores.receipts, messageId));
      if (receipt === undefined && asked !== undefined)
        return ctx.reply(await whyNot(context, ctx, asked)).then(() => undefined);
      if (receipt === undefined) throw new UserError(t('I have not answered anything here that I have a receipt of.'));
      await ctx.reply(whyText(receipt));
    },
  });
  command({
    name: 'cost',
    description: 'The cost of answers: today, in this channel or on this server',
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
          t('Only moderators can see what the whole server has used. `!cost` shows your own use and this channel’s.'),
        );
      }
      const channelId = await homeChannelOf(client, ctx.actor.channelId);
      await ctx.reply(await costText(of, { ...ctx.actor, channelId }, stores, clock));
    },
  });
}

/** The message to which the command replies, or to which a link leads. @throws UserError for a text that is not a link to a message */
function askedMessage({ actor, channel, message }: CommandContext, link: string | undefined): AskedMessage | undefined {
  if (link === undefined) {
    const messageId = message?.reference?.messageId;
    return messageId === undefined ? undefined : { guildId: actor.guildId, channelId: channel.id, messageId };
  }
  const { guildId = null, channelId = '', messageId } = readDiscordLink(link) ?? {};
  if (messageId === undefined)
    throw new UserError(t('Please give the link of a message, or use this as a reply to it.'));
  return { guildId, channelId, messageId };
}

const DAYS = 7;
const TOP_CHANNELS = 5;

type CostView = 'channel' | 'guild' | 'day';

const thisBotAlone = () =>
  t('-# This is what this bot has used, and budgets hold for it alone: other bots count their own.');

/** The use of tokens and money: `day` is today's use of the requester and the channel; the others are the last days of one account. */
async function costText(
  view: CostView,
  actor: Actor,
  stores: Omit<AccountStores, 'receipts'>,
  clock: Pick<Clock, 'now'>,
): Promise<string> {
  const now = clock.now();
  const { guildId, channelId, userId } = actor;
  const channel = await stores.channelAccounts.of(channelId).get();
  if (view === 'channel') return days(t('This channel'), channel, now);
  if (view === 'guild') {
    if (guildId === null) return t('This is a direct message: `!cost channel` shows what it has used.');
    const guild = await stores.guildAccounts.of(guildId).get();
    return [days(t('This server'), guild, now), ...topChannels(guild, now), thisBotAlone()].join('\n');
  }
  const own = guildId === null ? [] : [await stores.memberAccounts.of({ userId, guildId }).get()];
  return [
    t('**Today** ({date} UTC)', { date: dayOf(now) }),
    ...own.map((account) => t('You: {use}', { use: line(today(account, now)) })),
    t('This channel: {use}', { use: line(today(channel, now)) }),
  ].join('\n');
}

function days(whose: string, account: Account, now: number): string {
  const dates = lastDays(now, DAYS);
  const used = dates.map((date) => [date, account.days[date] ?? NO_USE] as const).filter(([, { runs }]) => runs > 0);
  if (used.length === 0) return t('**{whose}** has used nothing in the last {days} days.', { whose, days: DAYS });
  return [
    t('**{whose}**, last {days} days (UTC): {use}', {
      whose,
      days: DAYS,
      use: line(addSums(used.map(([, sum]) => sum))),
    }),
    ...used.map(([date, sum]) => `${date}: ${line(sum)}`),
  ].join('\n');
}

function topChannels({ channels }: Account, now: number): readonly string[] {
  if (channels?.day !== dayOf(now)) return [];
  const top = Object.entries(channels.tokens)
    .sort(([, a], [, b]) => b - a)
    .slice(0, TOP_CHANNELS);
  return [
    t('Today by channel: {channels} tokens', {
      channels: top.map(([id, tokens]) => `<#${id}> ${formatCount(tokens)}`).join(', '),
    }),
  ];
}

function today(account: Account, now: number): Sum {
  return account.days[dayOf(now)] ?? NO_USE;
}

function line({ runs, tokens, usd, unpriced, usage }: Sum): string {
  if (runs === 0 && tokens === 0) return t('nothing yet');
  const prompt = usage.inputTokens + usage.cacheCreationTokens + usage.cacheReadTokens;
  const cached = prompt === 0 ? 0 : Math.round((100 * usage.cacheReadTokens) / prompt);
  return t(
    '{runs, plural, one {# run} other {# runs}}, {tokens} tokens ({cached}% of the prompts read from the cache), {usd}{unpriced, plural, =0 {} other {, without # of unknown price}}',
    { runs, tokens: formatCount(tokens), cached, usd: formatUsd(usd), unpriced },
  );
}

/** Why the bot acted, its sources, and the cost. */
function whyText(receipt: Receipt): string {
  const { actor, tools, configured = [], notes = [] } = receipt;
  const heading =
    receipt.messageIds.length === 0 ? t('Why I was active without sending a message') : t('Why I answered');
  const model = [
    t('{model} by {provider}', { model: safe(receipt.model), provider: safe(receipt.provider) }),
    ...(receipt.mode === undefined ? [] : [t('{mode} mode', { mode: receipt.mode })]),
    t('{calls, plural, one {# call} other {# calls}}', { calls: receipt.calls }),
  ];
  return [
    t('**{heading}**: {trigger} (asked by <@{userId}>, <t:{seconds}:R>)', {
      heading,
      trigger: safe(receipt.trigger),
      userId: actor.userId,
      seconds: Math.floor(receipt.at / 1000),
    }),
    t('**Responder**: {mind}', { mind: safe(receipt.mind) }),
    t('**Model**: {model}', { model: model.join(', ') }),
    ...receipt.details.map(detail),
    ...(receipt.missCause === undefined ? [] : [t('**Cache miss**: {cause}', { cause: safe(receipt.missCause) })]),
    t('**Tokens**: {usage}', { usage: usageText(receipt.usage) }),
    t('**Cost**: {cost}', {
      cost: receipt.cost === null ? t('the price of this model is not known') : formatUsd(receipt.cost),
    }),
    ...(tools.length === 0
      ? []
      : [
          t('**Tools**: {tools}', {
            tools: tools.map(({ name, outcome }) => `${safe(name)} (${safe(outcome)})`).join(', '),
          }),
        ]),
    ...(configured.length === 0
      ? []
      : [t('**Configured**: {settings}', { settings: configured.map(safe).join('; ') })]),
    ...notes.map((note) => t('**Note**: {note}', { note: safe(note) })),
  ].join('\n');
}

/** The text for a message that the bot sent on behalf of a member, or for a card. */
function originText(origin: MessageOrigin): string {
  if (origin.kind === 'card') {
    const { userId } = origin;
    return origin.open
      ? t('This is a confirmation card: it asks <@{userId}> and waits for their 👍 or 👎.', { userId })
      : t('This is a confirmation card: it asks <@{userId}> and it has been decided.', { userId });
  }
  const who = origin.userId === undefined ? t('a member who has had their data deleted') : `<@${origin.userId}>`;
  return t('These are not my own words: I sent this for {who}, who used a tool for it.', { who });
}

/** `Read: 42 messages` already contains a heading. */
function detail(text: string): string {
  const [, heading, rest] = /^(\p{L}[\p{L} ]{0,30}): (.+)$/su.exec(text) ?? [];
  return heading === undefined || rest === undefined ? `• ${safe(text)}` : `**${heading}**: ${safe(rest)}`;
}

function safe(text: string): string {
  return plainText(visible(text));
}
