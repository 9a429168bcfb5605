import {
  type CommandContext,
  type CommandInfo,
  createdAt,
  type DecisionReason,
  isDotMessage,
  plainText,
  repliesToOwn,
  t,
  UserError,
  unlessUnreachable,
  visible,
} from '@cinnabar/sdk';
import { type Message, PermissionFlagsBits } from 'discord.js';
import type { AccountsContext } from './service.js';

/** The message in question. */
export interface AskedMessage {
  readonly guildId: string | null;
  readonly channelId: string;
  readonly messageId: string;
}

/**
 * Why a message was not answered: the reason recorded when it arrived, otherwise a reason from the current rules and settings.
 * @throws UserError for a message that the requester may not ask about, or that was deleted
 */
export async function whyNot(context: AccountsContext, ctx: CommandContext, asked: AskedMessage): Promise<string> {
  const message = await messageOf(context, ctx, asked);
  if (message.author.id !== ctx.actor.userId) await ctx.requireAccess({ tier: 'admin', where: 'guild' }, 'why');
  const noted = context.services.decisions.of(message.id);
  const lines = noted.length > 0 ? noted.map(({ text }) => text) : await derived(context, message);
  return [t('**Why there is no answer of mine to this message**'), ...lines.map((line) => `• ${line}`)].join('\n');
}

/** The message, if the requester can read it. @throws UserError */
async function messageOf(
  { client, services }: AccountsContext,
  { actor }: CommandContext,
  { guildId, channelId, messageId }: AskedMessage,
): Promise<Message> {
  const gone = () => new UserError(t('There is no such message that you and I can read.'));
  if (channelId !== actor.channelId) {
    const place = { guildId, channelId };
    if (guildId !== actor.guildId || !(await services.access.mayEnter(actor, place, ['ReadMessageHistory'])))
      throw gone();
  }
  const channel = await unlessUnreachable(client.channels.fetch(channelId));
  if (channel?.isTextBased() !== true) throw gone();
  const message = await unlessUnreachable(channel.messages.fetch(messageId));
  if (message === undefined) throw gone();
  if (message.author.id === client.user?.id)
    throw new UserError(t('I have no receipt of that message: it is not an answer of mine, or too old.'));
  return message;
}

/** Reasons derived from a message and the current rules and settings: nothing is recorded about messages that are not addressed to the bot. */
async function derived(context: AccountsContext, message: Message): Promise<readonly string[]> {
  const { client, services } = context;
  const { author, content, guildId, mentions } = message;
  const ownId = client.user?.id ?? '';
  const silence = () => services.plugins.silenceReasons(message);
  if (author.bot || message.webhookId !== null)
    return [
      t(
        'It was written by a bot or a webhook: I run no commands of those, and answer them only where a plugin is set up for it.',
      ),
      ...(await silence()),
    ];
  if (isDotMessage(content)) return [t('It starts with a dot: such messages are not for bots.')];
  const shutOut = (await ignored(context, message)) ?? unseen(message);
  if (shutOut !== undefined) return [shutOut];
  const prefixes = services.prefixes.get(guildId);
  const prefix = prefixes.find((one) => content.toLowerCase().startsWith(one.toLowerCase()));
  const early = createdAt(message.id) < services.host.startedAt ? [beforeStart()] : [];
  if (prefix !== undefined && mentions.repliedUser?.bot === true && mentions.repliedUser.id !== ownId)
    return [
      t('It is a command in reply to another bot: so it is for that one. A command by slash or mention is for me.'),
    ];
  if (prefix !== undefined)
    return [...early, ...(await aboutCommand(context, message, content.slice(prefix.length).trim()))];
  const isAddressed = guildId === null || repliesToOwn(message) || mentions.users.has(ownId);
  if (isAddressed) return [...early, ...(await addressed(context, message))];
  const isForMany =
    mentions.everyone || mentions.roles.some(({ id }) => message.guild?.members.me?.roles.cache.has(id));
  return [
    notAddressed(prefixes),
    ...(isForMany ? [t('A mention of everyone or of a role does not count as a mention of me.')] : []),
    ...(await silence()),
  ];
}

const beforeStart = () => t('It was written before I was started, and I have no record of it. Write it again.');

/** The rule by which the bot ignores the author or the place. */
async function ignored({ services: { access } }: AccountsContext, { author, guildId, channelId }: Message) {
  const actor = { userId: author.id, guildId, channelId };
  if (!(await access.ignores(actor))) return undefined;
  const { reasons } = await access.decide(actor, { kind: 'command', name: 'ai', plugin: 'ai', policy: {} });
  const { text = '', remedy = '' } = reasons.find(({ rule }) => rule === 'ignored') ?? {};
  return t('I ignore it: {reason}. {remedy}', { reason: text, remedy });
}

/** The reason why the bot cannot read the message, or cannot answer there. */
function unseen({ client, guild, channel, content, attachments, guildId, mentions }: Message): string | undefined {
  const me = guild?.members.me;
  const needed = channel.isThread() ? PermissionFlagsBits.SendMessagesInThreads : PermissionFlagsBits.SendMessages;
  if (me != null && !channel.isDMBased() && !channel.permissionsFor(me).has(PermissionFlagsBits.ViewChannel | needed))
    return t('I may not see this channel or write in it. Give one of my roles View Channel and Send Messages here.');
  // Discord sends the text of messages that mention the bot, and of direct messages, in any case.
  const isHidden =
    !client.options.intents.has('MessageContent') && guildId !== null && !mentions.users.has(client.user.id);
  return isHidden && content === '' && attachments.size === 0
    ? t('Discord does not show me what is written here. Mention me, or use a slash command.')
    : undefined;
}

/** For a message to the bot: the command after the mention, otherwise the current obstacle to an answer. */
async function addressed(context: AccountsContext, message: Message): Promise<readonly string[]> {
  const { client, services } = context;
  const { author, content, guildId, channelId } = message;
  const [mention = ''] = new RegExp(`^<@!?${client.user?.id}>\\s*`).exec(content) ?? [];
  if (mention !== '' && services.commands.matches(message))
    return aboutCommand(context, message, content.slice(mention.length));
  const isRunning = services.plugins.list().some(({ id, state }) => id === 'ai' && state === 'running');
  if (!isRunning || !services.plugins.enabledIn(guildId, 'ai'))
    return [
      t(
        'The plugin `ai`, which answers what is said to me, is off here. An admin switches it on with `plugin enable ai`.',
      ),
    ];
  const actor = { userId: author.id, guildId, channelId };
  const obstacles = (await services.plugins.diagnose('ai', { actor, kind: 'command', name: 'ai' })).filter(
    ({ ok }) => !ok,
  );
  if (obstacles.length > 0)
    return obstacles.map(({ text, remedy = '' }) =>
      t('It was said to me, but this prevents an answer now: {obstacle}. {remedy}', { obstacle: text, remedy }),
    );
  return [
    t(
      'It was said to me, and I have no record of a reason not to answer it: the responder here decided not to, or the record is too old. `ai status` shows who answers here.',
    ),
    ...(await services.plugins.silenceReasons(message)),
  ];
}

function notAddressed(prefixes: readonly string[]): string {
  return t('It was not said to me. Start it with {prefix}, mention me, or reply to a message of mine.', {
    prefix: prefixes.map((one) => `\`${one}\``).join(', '),
  });
}

/** The command at the beginning of the text, and the current rules that deny it. */
async function aboutCommand(
  { services }: AccountsContext,
  { author, guildId, channelId }: Message,
  words: string,
): Promise<readonly string[]> {
  const all = services.commands.names();
  const parts = words.toLowerCase().split(/\s+/);
  const longest = parts
    .map((_, index) => parts.slice(0, parts.length - index).join(' '))
    .find((name) => all.includes(name));
  const actor = { userId: author.id, guildId, channelId };
  const explained = longest === undefined ? [] : await services.commands.explain(actor, longest);
  if (longest === undefined || explained.length === 0) {
    const visibleOnes = await services.commands.visibleTo(actor);
    const [near] = services.commands.similar(parts[0] ?? '', visibleOnes);
    return [
      t('There is no command `{name}` here.', { name: shown(parts[0] ?? '') }),
      ...(near === undefined ? [] : [t('Did you mean `{near}`?', { near })]),
    ];
  }
  const refused = explained.filter(({ decision }) => !decision.allowed);
  if (refused.length < explained.length)
    return [
      t(
        'It begins with the command `{name}`, which may be used here: it has run, or failed with a sentence in the channel.',
        { name: longest },
      ),
    ];
  return refused.slice(0, 3).map(({ command, decision }) => refusal(command, decision.reasons));
}

function refusal({ name }: CommandInfo, reasons: readonly DecisionReason[]): string {
  const denying = reasons.filter(({ allowed }) => !allowed).map(({ text }) => text);
  return t('The command `{name}` is refused: {reasons}. `diagnose me {name}` names the remedy.', {
    name,
    reasons: denying.join('; '),
  });
}

const shown = (word: string) => plainText(visible(word)).replaceAll('`', 'ˋ').slice(0, 50);
