import {
  type Actor,
  createRateLimiter,
  findSendable,
  isUnknown,
  isUnreachable,
  nameText,
  readDiscordLink,
  t,
  UserError,
  unlessUnreachable,
  withRefusalSentences,
} from '@cinnabar/sdk';
import type { Guild, Message, MessageReaction, PartialMessageReaction, PartialUser, Role, User } from 'discord.js';
import { type Binding, LIMITS, type RolesContext } from './context.js';
import { emojiIn, emojiKey } from './menu-store.js';
import { type SelfRoles, TooOften } from './self-roles.js';

/** Minimum interval between two direct messages to a member about reactions that gave no role. */
const TELL_EVERY_MS = 60_000;

export type ReactionRoles = ReturnType<typeof createReactionRoles>;

/** Roles that members get by reacting to a message; the message may be from any author. */
export function createReactionRoles(context: RolesContext, selfRoles: SelfRoles) {
  const { on, client, collections, services, log } = context;
  const told = createRateLimiter(services.clock, TELL_EVERY_MS, 1_000);
  /** Indexed by guild and message, because every reaction looks it up. */
  const known = new Map<string, Promise<ReadonlyMap<string, readonly Binding[]>>>();

  const indexOf = (guildId: string) => {
    const index =
      known.get(guildId) ??
      collections.reactions
        .of(guildId)
        .get()
        .then(({ bindings }) => byMessage(bindings));
    known.set(guildId, index);
    index.catch(() => known.delete(guildId));
    return index;
  };
  const change = async (guild: Guild, update: (bindings: readonly Binding[]) => Binding[]): Promise<void> => {
    const { bindings } = await collections.reactions.of(guild).update((draft) => {
      draft.bindings = update(draft.bindings);
    });
    known.set(guild.id, Promise.resolve(byMessage(bindings)));
  };

  const follow = async (
    reaction: MessageReaction | PartialMessageReaction,
    user: User | PartialUser,
    isAdded: boolean,
  ): Promise<void> => {
    const { message, emoji } = reaction;
    if (message.guildId === null || user.id === client.user?.id) return;
    const bindings = (await indexOf(message.guildId)).get(message.id);
    const binding = bindings?.find((one) => one.emoji === keyOf(emoji));
    const guild = client.guilds.cache.get(message.guildId);
    if (binding === undefined || guild === undefined || user.bot === true) return;
    await services.languages.speak({ guildId: guild.id, userId: user.id }, async () => {
      try {
        const { take } = await selfRoles.react(guild, user.id, binding.roleId, isAdded);
        if (isAdded && bindings !== undefined) await clearOthers(reaction, user.id, bindings, take);
      } catch (error) {
        if (!(error instanceof UserError)) throw error;
        if (isAdded && !(error instanceof TooOften)) await removeReaction(reaction, user.id);
        await tell(guild, user.id, error);
      }
    });
  };
  on('messageReactionAdd', (reaction, user) => follow(reaction, user, true));
  on('messageReactionRemove', (reaction, user) => follow(reaction, user, false));

  /** Removes a member's reactions for roles that another one has replaced; otherwise they would suggest that the member has them. */
  const clearOthers = async (
    { message }: MessageReaction | PartialMessageReaction,
    userId: string,
    bindings: readonly Binding[],
    taken: readonly string[],
  ): Promise<void> => {
    for (const { emoji } of bindings.filter(({ roleId }) => taken.includes(roleId))) {
      const other = message.reactions.cache.find((one) => keyOf(one.emoji) === emoji);
      if (other !== undefined) await removeReaction(other, userId);
    }
  };

  const removeReaction = async (reaction: MessageReaction | PartialMessageReaction, userId: string): Promise<void> => {
    await reaction.users.remove(userId).catch((error: unknown) => {
      // Without Manage Messages the reaction stays.
      if (!isUnreachable(error)) log.warn('a reaction could not be removed', { error });
    });
  };

  const tell = async (guild: Guild, userId: string, { message }: UserError): Promise<void> => {
    if (told.take(userId, 1) !== undefined) return;
    const text = t('{server}: {sentence}', { server: nameText(guild.name), sentence: message });
    await client.users.send(userId, { content: text, allowedMentions: { parse: [] } }).catch((error: unknown) => {
      if (!isUnreachable(error)) log.warn('a member could not be told why a reaction gave no role', { error });
    });
  };

  /** The message that a link points to, which is in this guild and which the admin can read. @throws UserError */
  const messageAt = async (guild: Guild, link: string, actor: Actor): Promise<Message> => {
    const place = readDiscordLink(link);
    if (place?.messageId === undefined || place.guildId !== guild.id)
      throw new UserError(t('I need a link to a message of this server: choose “Copy Message Link” in its menu.'));
    const gone = t('There is no such message, or one of us cannot read it.');
    const mayRead = await services.access.mayEnter(actor, place, ['ViewChannel', 'ReadMessageHistory']);
    const channel = mayRead ? await findSendable(client, place.channelId) : undefined;
    const message = await (channel && unlessUnreachable(channel.messages.fetch(place.messageId)));
    if (message === undefined) throw new UserError(gone);
    return message;
  };

  return {
    /** @returns the link to the message. @throws UserError if the emoji, message or role cannot be used */
    async add(guild: Guild, link: string, emojiText: string, role: Role, actor: Actor): Promise<string> {
      const message = await messageAt(guild, link, actor);
      const emoji = emojiIn(guild, emojiText);
      const { bindings } = await collections.reactions.of(guild).get();
      if (bindings.length >= LIMITS.bindings)
        throw new UserError(t('A server has at most {most} reaction roles.', { most: LIMITS.bindings }));
      // Also checks that Discord accepts the emoji.
      await withRefusalSentences(() => message.react(emoji));
      const binding = { channelId: message.channelId, messageId: message.id, emoji: emojiKey(emoji), roleId: role.id };
      await change(guild, (all) => [...all.filter((one) => !isSame(one, binding)), binding]);
      return message.url;
    },

    /** @param emojiText `undefined`: all bindings of the message. @returns the number of removed bindings. @throws UserError */
    async remove(guild: Guild, link: string, emojiText: string | undefined): Promise<number> {
      const messageId = readDiscordLink(link)?.messageId ?? link.trim();
      const emoji = emojiText === undefined ? undefined : emojiKey(emojiIn(guild, emojiText));
      const isMeant = (one: Binding) => one.messageId === messageId && (emoji === undefined || one.emoji === emoji);
      const gone = [...((await indexOf(guild.id)).get(messageId) ?? [])].filter(isMeant);
      if (gone.length === 0) throw new UserError(t('That message has no such reaction role.'));
      await change(guild, (all) => all.filter((one) => !isMeant(one)));
      for (const one of gone) await clearOwn(one);
      return gone.length;
    },

    async list(guild: Guild): Promise<readonly Binding[]> {
      return [...(await indexOf(guild.id)).values()].flat();
    },

    /** Removes bindings whose message was deleted while the bot was offline. */
    async tidyMessages(guild: Guild): Promise<void> {
      const all = [...(await indexOf(guild.id)).values()].flat();
      const messages = new Map(all.map(({ messageId, channelId }) => [messageId, channelId]));
      const gone = new Set<string>();
      for (const [messageId, channelId] of messages) {
        try {
          const channel = await client.channels.fetch(channelId);
          if (channel?.isTextBased() === true) await channel.messages.fetch(messageId);
        } catch (error) {
          // After a missing permission they are kept, because it may be granted again.
          if (isUnknown(error)) gone.add(messageId);
          else
            log.info('a message with reaction roles could not be looked up', { guildId: guild.id, messageId, error });
        }
      }
      if (gone.size > 0) await change(guild, (bindings) => bindings.filter(({ messageId }) => !gone.has(messageId)));
    },

    /** Removes the bindings whose message, channel or role no longer exists. */
    async tidy(guild: Guild, isGone: (binding: Binding) => boolean): Promise<void> {
      const all = [...(await indexOf(guild.id)).values()].flat();
      if (all.some(isGone)) await change(guild, (bindings) => bindings.filter((one) => !isGone(one)));
    },
  };

  async function clearOwn({ channelId, messageId, emoji }: Binding): Promise<void> {
    const channel = await findSendable(client, channelId);
    const message = await (channel && unlessUnreachable(channel.messages.fetch(messageId)));
    const own = message?.reactions.cache.find((one) => keyOf(one.emoji) === emoji);
    if (own?.me === true && client.user !== null) await removeReaction(own, client.user.id);
  }
}

const keyOf = ({ id, name }: { readonly id: string | null; readonly name: string | null }): string =>
  id ?? emojiKey(name ?? '');

const isSame = (one: Binding, other: Binding): boolean =>
  one.messageId === other.messageId && one.emoji === other.emoji;

function byMessage(bindings: readonly Binding[]): ReadonlyMap<string, readonly Binding[]> {
  const index = new Map<string, Binding[]>();
  for (const binding of bindings) index.set(binding.messageId, [...(index.get(binding.messageId) ?? []), binding]);
  return index;
}
