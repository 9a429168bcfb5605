import {
  type Client,
  type Guild,
  type GuildMember,
  type GuildTextBasedChannel,
  type Message,
  type MessageCreateOptions,
  type MessageEditOptions,
  MessageFlags,
  type MessageMentionOptions,
  RESTJSONErrorCodes,
  type SendableChannels,
  type Webhook,
  WebhookType,
} from 'discord.js';
import type { Clock } from '../clock.js';
import { UserError } from '../errors.js';
import { t } from '../text/language.js';
import { isConfusable, likenessOf, sanitizeName } from '../text/untrusted.js';
import { isRefusal, isTransient, retryDiscord } from './errors.js';
import { isOwnMessage, isOwnWebhookMessage } from './messages.js';
import type { Profile, SendAsOptions, SendOnceOptions } from './send.js';

/** Webhooks are looked up once for each channel and process; those of the most recently used channels are cached. */
const WEBHOOKS_KEPT = 500;
const known = new WeakMap<Client, Map<string, Promise<Webhook | undefined>>>();

/** The channel whose webhooks are used in a place: for a thread, its parent. `undefined` when there are none. */
function webhookHome(channel: SendableChannels) {
  if (channel.isDMBased()) return undefined;
  const home = channel.isThread() ? channel.parent : channel;
  return home !== null && 'fetchWebhooks' in home && 'createWebhook' in home ? home : undefined;
}

/** Whether the bot may look up and make webhooks there. */
export function mayManageWebhooks(channel: SendableChannels): boolean {
  const home = webhookHome(channel);
  const me = home?.guild.members.me;
  return home !== undefined && me != null && home.permissionsFor(me).has('ManageWebhooks');
}

/**
 * The bot's own webhook for a channel, created when there is none: one for all messages that the bot sends there under other names.
 * @returns `undefined` when the channel has no webhooks
 * @throws Discord's refusal: no Manage Webhooks, too many webhooks
 */
export function ownWebhook(channel: SendableChannels): Promise<Webhook | undefined> {
  const home = webhookHome(channel);
  if (home === undefined) return Promise.resolve(undefined);
  const webhooks = known.get(channel.client) ?? new Map<string, Promise<Webhook | undefined>>();
  known.set(channel.client, webhooks);
  const found = webhooks.get(home.id) ?? findOrCreate(home);
  webhooks.delete(home.id);
  webhooks.set(home.id, found);
  found.catch(() => forgetOwnWebhook(channel));
  for (const oldest of webhooks.keys()) {
    if (webhooks.size <= WEBHOOKS_KEPT) break;
    webhooks.delete(oldest);
  }
  return found;
}

/** Removes the cached webhook, so that the next message looks for another one. Call it when Discord reports the webhook as unknown. */
export function forgetOwnWebhook(channel: SendableChannels): void {
  const home = webhookHome(channel);
  if (home !== undefined) known.get(channel.client)?.delete(home.id);
}

type Home = NonNullable<ReturnType<typeof webhookHome>>;

async function findOrCreate(home: Home): Promise<Webhook | undefined> {
  const { client } = home;
  const there = await home.fetchWebhooks();
  const own = there.find(
    ({ applicationId, type, token }) =>
      type === WebhookType.Incoming && token !== null && applicationId === client.application.id,
  );
  if (own !== undefined) return own;
  // Discord refuses webhooks with names similar to its own.
  const name = /discord|clyde/i.test(client.user.displayName) ? 'Cinnabar' : client.user.displayName;
  return home.createWebhook({ name, reason: 'speaks under the names of its agents' });
}

/** The parameters, besides the content, that place a webhook's message in this channel or thread. */
export function webhookPlace(channel: SendableChannels): { readonly threadId?: string } {
  return channel.isThread() ? { threadId: channel.id } : {};
}

const LOOKED_THROUGH = 100;
const MESSAGE_LIMIT = 2_000;
const LONGEST_URL = 2_048;
/** Number of sent messages whose keys are remembered, so that one is not mistaken for another with the same text. */
const KEYS_KEPT = 1_000;
const sentUnder = new Map<string, string>();

/**
 * Sends a message under a name and a picture, through the bot's own webhook; exactly once even when requests fail. A webhook could send where the bot may not:
 * so it is only used where the bot itself may send, and pings no more than the bot could. It cannot reply: the member who is answered is mentioned at the
 * beginning.
 * @returns `undefined` when that is not possible: in direct messages, without Manage Webhooks, where the channel has no webhooks or no room for one, with
 * components or polls, where nothing is left of the name (`profileName`), and where Discord refuses it
 * @throws the last error when the message was not sent
 */
export async function sendByWebhook(
  channel: SendableChannels,
  message: MessageCreateOptions,
  key: string,
  { profile, ...once }: SendAsOptions,
): Promise<Message | undefined> {
  if (channel.isDMBased()) return undefined;
  const { content: text, ...spoken } = await withoutReply(channel, message);
  const after = once.sentAfter ?? channel.lastMessageId ?? undefined;
  const look = () => findSent(channel, [text, message.content?.trim() ?? ''], key, after);
  // An earlier process may have sent it either way.
  const sent = once.sentAfter === undefined ? undefined : await retryDiscord(once.clock, look, once);
  if (sent !== undefined) return sent;
  if (!maySpeakByWebhook(channel, message)) return undefined;
  const username = await profileName(channel.guild, profile.name, once.clock);
  if (username === undefined) return undefined;
  const body = { ...spoken, content: text, username, ...avatarOf(profile), ...webhookPlace(channel) };
  try {
    const said = await executeOnce(channel, body, look, once);
    remember(said.id, key);
    return said;
  } catch (error) {
    // A refused message was not sent; a failed one may have been.
    if (isRefusal(error)) return undefined;
    throw error;
  }
}

/** Edits a message of the bot's own, however it was sent. @throws UserError when its webhook is gone; Discord's refusal */
export async function editOwn(message: Message, change: MessageEditOptions): Promise<Message> {
  if (!isOwnWebhookMessage(message)) return message.edit(change);
  const { channel } = message;
  const webhook = channel.isSendable() ? await ownWebhook(channel) : undefined;
  if (!channel.isSendable() || webhook === undefined || webhook.id !== message.webhookId) throw gone();
  const allowedMentions = mentionsFor(channel, change.content ?? '', change.allowedMentions);
  return webhook.editMessage(message, { ...change, allowedMentions, ...webhookPlace(channel) });
}

/** Deletes a message of the bot's own, however it was sent. @throws Discord's refusal */
export async function deleteOwn(message: Message): Promise<void> {
  const { channel } = message;
  const webhook =
    isOwnWebhookMessage(message) && channel.isSendable() && mayManageWebhooks(channel)
      ? await ownWebhook(channel)
      : undefined;
  // Without its webhook it counts as another user's message, which requires Manage Messages to delete.
  if (webhook === undefined || webhook.id !== message.webhookId) await message.delete();
  else await webhook.deleteMessage(message, channel.isThread() ? channel.id : undefined);
}

function gone(): UserError {
  return new UserError(t('It was sent through a webhook that no longer exists, so it cannot be changed.'));
}

/** Whether the bot itself may send the message there: Discord does not check the bot's permissions for a webhook. */
function maySpeakByWebhook(channel: GuildTextBasedChannel, message: MessageCreateOptions): boolean {
  const { components = [], stickers = [], files, embeds, poll, forward } = message;
  const { me } = channel.guild.members;
  if (me === null || me.isCommunicationDisabled() || !mayManageWebhooks(channel)) return false;
  if (components.length > 0 || stickers.length > 0 || poll !== undefined || forward !== undefined) return false;
  if (channel.isThread() && (channel.archived === true || channel.locked === true)) return false;
  const may = channel.permissionsFor(me);
  return (
    may.has(['ViewChannel', channel.isThread() ? 'SendMessagesInThreads' : 'SendMessages']) &&
    (files === undefined || files.length === 0 || may.has('AttachFiles')) &&
    (embeds === undefined || embeds.length === 0 || may.has('EmbedLinks'))
  );
}

function avatarOf({ avatarUrl }: Profile): { readonly avatarURL?: string } {
  const isUsable =
    avatarUrl !== undefined &&
    avatarUrl.length <= LONGEST_URL &&
    URL.canParse(avatarUrl) &&
    new URL(avatarUrl).protocol === 'https:';
  return isUsable ? { avatarURL: avatarUrl } : {};
}

/** The message in the form for a webhook, which cannot reply: the author of the answered message is mentioned in the text. */
async function withoutReply(
  channel: GuildTextBasedChannel,
  {
    reply,
    flags,
    nonce: _nonce,
    enforceNonce: _enforced,
    stickers: _none,
    forward: _nothing,
    ...message
  }: MessageCreateOptions,
) {
  const text = message.content?.trim() ?? '';
  const answered = reply === undefined ? undefined : await authorOf(channel, reply.messageReference);
  const mention = answered === undefined || text.includes(`<@${answered}>`) ? '' : `<@${answered}> `;
  const content = text !== '' && mention.length + text.length <= MESSAGE_LIMIT ? `${mention}${text}` : text;
  const allowed = message.allowedMentions ?? channel.client.options.allowedMentions;
  const isPinged = answered !== undefined && allowed?.repliedUser !== false;
  const { parse = [], users = [], ...rest } = mentionsFor(channel, content, allowed);
  const allowedMentions = {
    ...rest,
    parse,
    // Discord accepts either all users or a list of them.
    users: isPinged && !parse.includes('users') ? [...new Set([...users, answered])] : users,
  };
  const { me } = channel.guild.members;
  const hidden: readonly MessageFlags.SuppressEmbeds[] =
    me === null || channel.permissionsFor(me).has('EmbedLinks') ? [] : [MessageFlags.SuppressEmbeds];
  return {
    ...message,
    content,
    allowedMentions,
    flags: [...(flags === undefined ? [] : [flags]), ...hidden],
  };
}

/** The author of the answered message. */
async function authorOf(
  channel: GuildTextBasedChannel,
  reference: NonNullable<MessageCreateOptions['reply']>['messageReference'],
): Promise<string | undefined> {
  const id = typeof reference === 'string' ? reference : reference.id;
  const message = channel.messages.cache.get(id) ?? (await channel.messages.fetch(id).catch(() => undefined));
  return message === undefined || message.author.bot || message.webhookId !== null ? undefined : message.author.id;
}

/** The mentions that the bot itself could ping: for a webhook, Discord checks only the given list. */
function mentionsFor(
  channel: SendableChannels,
  content: string,
  wanted: MessageMentionOptions | undefined,
): MessageMentionOptions {
  const { repliedUser: _repliedUser, ...mentions } = wanted ?? { parse: [] };
  const me = channel.isDMBased() ? null : channel.guild.members.me;
  if (channel.isDMBased() || me === null || channel.permissionsFor(me).has('MentionEveryone')) return mentions;
  const named = mentions.parse?.includes('roles')
    ? [...content.matchAll(/<@&(\d{1,20})>/g)].flatMap(([, id]) => id ?? [])
    : (mentions.roles ?? []);
  const roles = [...new Set(named)].filter((id) => channel.guild.roles.cache.get(id)?.mentionable === true);
  return { ...mentions, parse: (mentions.parse ?? []).filter((kind) => kind === 'users'), roles };
}

type Body = Parameters<Webhook['send']>[0] & { readonly content: string };

/** Discord does not compare nonces for webhooks, and the host sends each such request once: before a retry, the history is searched. */
function executeOnce(
  channel: GuildTextBasedChannel,
  body: Body,
  look: () => Promise<Message | undefined>,
  { clock, ...retry }: { readonly clock: Clock } & Omit<SendOnceOptions, 'clock' | 'sentAfter'>,
): Promise<Message> {
  let mayBeThere = false;
  let hasLookedAnew = false;
  const attempt = async (): Promise<Message> => {
    const there = mayBeThere ? await look() : undefined;
    if (there !== undefined) return there;
    const webhook = await ownWebhook(channel);
    if (webhook === undefined) throw new Error('the channel has no webhooks');
    try {
      return await webhook.send(body);
    } catch (error) {
      if (isTransient(error)) mayBeThere = true;
      const isGone = isRefusal(error) && GONE.has(error.code);
      if (!isGone || hasLookedAnew) throw error;
      hasLookedAnew = true;
      forgetOwnWebhook(channel);
      return attempt();
    }
  };
  return retryDiscord(clock, attempt, retry).catch(async (error: unknown) => {
    const there = mayBeThere ? await look().catch(() => undefined) : undefined;
    if (there === undefined) throw error;
    return there;
  });
}

const GONE: ReadonlySet<string | number> = new Set([
  RESTJSONErrorCodes.UnknownWebhook,
  RESTJSONErrorCodes.InvalidWebhookToken,
]);

async function findSent(
  channel: GuildTextBasedChannel,
  contents: readonly string[],
  key: string,
  after: string | undefined,
): Promise<Message | undefined> {
  const since = await channel.messages.fetch({
    limit: LOOKED_THROUGH,
    cache: false,
    ...(after === undefined ? {} : { after }),
  });
  const isOther = (id: string) => (sentUnder.get(id) ?? key) !== key;
  return since.find((one) => isOwnMessage(one) && contents.includes(one.content) && !isOther(one.id));
}

function remember(messageId: string, key: string): void {
  sentUnder.set(messageId, key);
  for (const oldest of sentUnder.keys()) {
    if (sentUnder.size <= KEYS_KEPT) break;
    sentUnder.delete(oldest);
  }
}

/** Discord's limit for the name of a webhook's message. */
const LONGEST = 80;
/** Names that Discord refuses, because they are similar to its own. */
const REFUSED = /discord|clyde/giu;
/** Names that members would take for something other than an agent. */
const RESERVED = ['everyone', 'here', 'system', 'admin', 'administrator', 'moderator', 'mod', 'owner'];
const KEPT_MS = 10 * 60_000;
const REMEMBERED = 1_000;
const SEARCHED = 100;

const decided = new WeakMap<Guild['client'], Map<string, { readonly at: number; readonly name: string }>>();

/**
 * The name under which a webhook of the bot may say something in a guild: readable, 1 to 80 characters, without what Discord refuses. The name of
 * a member or a role, one that looks like it, or one that can pass for another one, gets the bot's own name behind it: `alice (Cinnabar)`.
 * Members are searched for at most once a name in ten minutes.
 * @returns `undefined` when nothing usable is left
 */
export async function profileName(
  guild: Guild,
  wanted: string,
  clock: Pick<Clock, 'now'>,
): Promise<string | undefined> {
  const plain = withoutRefused(sanitizeName(wanted));
  if (plain === undefined) return undefined;
  const names = decided.get(guild.client) ?? new Map<string, { at: number; name: string }>();
  decided.set(guild.client, names);
  const key = `${guild.id}\n${plain}`;
  const known = names.get(key);
  if (known !== undefined && clock.now() - known.at < KEPT_MS) return known.name;
  const name = (await isTaken(guild, plain)) ? marked(plain, guild) : plain;
  names.delete(key);
  names.set(key, { at: clock.now(), name });
  for (const oldest of names.keys()) {
    if (names.size <= REMEMBERED) break;
    names.delete(oldest);
  }
  return name;
}

function withoutRefused(name: string): string | undefined {
  let left = name;
  // Removing one name can join the parts of another one.
  while (left.search(REFUSED) !== -1) left = left.replace(REFUSED, '');
  left = sanitizeName(left);
  const looks = likenessOf(left);
  const passesForDiscord = ['discord', 'clyde'].some((word) => looks.includes(likenessOf(word)));
  return left === '' || passesForDiscord ? undefined : left;
}

function marked(name: string, guild: Guild): string {
  const own = withoutRefused(sanitizeName(guild.members.me?.displayName ?? guild.client.user.displayName)) ?? 'bot';
  return `${name} (${own})`.slice(0, LONGEST);
}

async function isTaken(guild: Guild, name: string): Promise<boolean> {
  const likeness = likenessOf(name);
  // Compared only when a name has to be checked: the table of look-alikes takes a megabyte, which a bot without agents does not need.
  if (isConfusable(name) || RESERVED.some((reserved) => likenessOf(reserved) === likeness)) return true;
  const looksAlike = (other: string | null | undefined) => other != null && likenessOf(other) === likeness;
  const isSomeone = ({ id, nickname, user }: GuildMember) =>
    id !== guild.client.user.id && [nickname, user.globalName, user.username].some(looksAlike);
  if (guild.roles.cache.some((role) => looksAlike(role.name)) || guild.members.cache.some(isSomeone)) return true;
  if (guild.memberCount <= guild.members.cache.size) return false;
  try {
    return (await guild.members.search({ query: name, limit: SEARCHED, cache: false })).some(isSomeone);
  } catch {
    // When Discord does not answer, the name counts as taken: a redundant suffix does no harm.
    return true;
  }
}
