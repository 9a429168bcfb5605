import { type Actor, type Clock, findSendable, isUnknown, keepTyping, type Logger, UserError } from '@cinnabar/sdk';
import { type Client, PermissionFlagsBits, type SendableChannels } from 'discord.js';
import type { Task } from '../task.js';

/** @throws UserError when the bot cannot write there */
export async function writableChannel(client: Client, channelId: string): Promise<SendableChannels> {
  const channel = await findSendable(client, channelId);
  if (channel === undefined) throw new UserError('I cannot see the channel of this task.');
  const own = channel.isDMBased() || client.user === null ? undefined : channel.permissionsFor(client.user);
  const send = channel.isThread() ? PermissionFlagsBits.SendMessagesInThreads : PermissionFlagsBits.SendMessages;
  if (channel.isDMBased() || own?.has(PermissionFlagsBits.ViewChannel | send) === true) return channel;
  throw new UserError('I may not write in the channel of this task.');
}

/** Whether a message there can have a thread of its own, and the bot may open and use it. */
export function mayOpenThread(client: Client, channel: SendableChannels): boolean {
  if (channel.isDMBased() || channel.isThread() || !('threads' in channel) || client.user === null) return false;
  const needed = PermissionFlagsBits.CreatePublicThreads | PermissionFlagsBits.SendMessagesInThreads;
  return channel.permissionsFor(client.user)?.has(needed) === true;
}

/**
 * Whether the member is still in the guild, by a request: without the privileged intent Discord does not report members who leave. A failed
 * request counts as yes, since every tool checks again before it runs.
 */
export async function isStillThere(client: Client, { guildId, userId }: Actor): Promise<boolean> {
  const guild = guildId === null ? undefined : client.guilds.cache.get(guildId);
  if (guild === undefined) return true;
  try {
    await guild.members.fetch({ user: userId, force: true });
    return true;
  } catch (error) {
    return !isUnknown(error);
  }
}

/** Shows the bot typing in the channel or thread of a task. @returns ends it */
export type ShowTyping = (task: Pick<Task, 'workId' | 'actor'>) => () => Promise<void>;

interface TypingParts {
  readonly client: Client;
  readonly clock: Clock;
  readonly log: Logger;
}

export function createTyping({ client, clock, log }: TypingParts): ShowTyping {
  return ({ workId, actor }) => keepTyping(() => findSendable(client, workId ?? actor.channelId), { clock, log });
}
