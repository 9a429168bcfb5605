import { inNote } from '@cinnabar/sdk';
import { type Message, MessageType } from 'discord.js';

const SPOKEN: ReadonlySet<MessageType> = new Set([
  MessageType.Default,
  MessageType.Reply,
  MessageType.ChatInputCommand,
  MessageType.ContextMenuCommand,
]);

/** Whether somebody said it. Everything else is Discord telling of an event. */
export function isSpoken({ type }: Pick<Message, 'type'>): boolean {
  return SPOKEN.has(type);
}

const EVENTS: { readonly [T in MessageType]?: string } = {
  [MessageType.ChannelPinnedMessage]: 'pinned a message',
  [MessageType.UserJoin]: 'joined the server',
  [MessageType.GuildBoost]: 'boosted the server',
  [MessageType.GuildBoostTier1]: 'boosted the server to level 1',
  [MessageType.GuildBoostTier2]: 'boosted the server to level 2',
  [MessageType.GuildBoostTier3]: 'boosted the server to level 3',
  [MessageType.ChannelFollowAdd]: 'made this channel follow another',
  [MessageType.AutoModerationAction]: 'automatic moderation acted',
  [MessageType.PollResult]: 'a poll ended',
};

/** What happened, from the point of view of the message's author. */
export function eventOf({ type, content }: Pick<Message, 'type' | 'content'>): string {
  if (type === MessageType.ThreadCreated) return `started the thread "${inNote(content)}"`;
  if (type === MessageType.ChannelNameChange) return `renamed the channel to "${inNote(content)}"`;
  return EVENTS[type] ?? inWords(MessageType[type]);
}

/** `StageStart` as `stage start`. Discord adds kinds faster than anybody lists them. */
function inWords(name: string | undefined): string {
  return (name ?? 'something happened').replace(/(?<=[a-z])(?=[A-Z])/g, ' ').toLowerCase();
}
