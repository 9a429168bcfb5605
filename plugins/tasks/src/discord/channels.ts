import { type Actor, type Clock, UserError } from '@cinnabar/sdk';
import { type Client, PermissionFlagsBits, type SendableChannels } from 'discord.js';
import type { Task } from '../task.js';

/** `undefined` for one that is gone, hidden, or not for messages. */
export async function channelOf(client: Client, channelId: string): Promise<SendableChannels | undefined> {
  try {
    const channel = await client.channels.fetch(channelId);
    return channel?.isSendable() === true ? channel : undefined;
  } catch (error) {
    if (isGone(error)) return undefined;
    throw error;
  }
}

/** @throws UserError when the bot cannot write there */
export async function writableChannel(client: Client, channelId: string): Promise<SendableChannels> {
  const channel = await channelOf(client, channelId);
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

const UNKNOWN_MEMBER = 10007;

/**
 * Whether somebody is still in the guild. Discord is asked: without the privileged intent for members it does not tell of those who leave.
 * What it cannot say just now is taken for a yes, since every tool asks again before it runs.
 */
export async function isStillThere(client: Client, { guildId, userId }: Actor): Promise<boolean> {
  const guild = guildId === null ? undefined : client.guilds.cache.get(guildId);
  if (guild === undefined) return true;
  try {
    await guild.members.fetch({ user: userId, force: true });
    return true;
  } catch (error) {
    return !(error instanceof Error && 'code' in error && error.code === UNKNOWN_MEMBER);
  }
}

/** Unknown channel or message, no access, no permission, a locked thread (https://discord.com/developers/docs/topics/opcodes-and-status-codes#json). */
const GONE = new Set<unknown>([10003, 10008, 50001, 50013, 160005]);

const codeOf = (error: unknown): unknown => (error instanceof Error && 'code' in error ? error.code : undefined);

/** Whether there is no point in trying again. */
export const isGone = (error: unknown): boolean => GONE.has(codeOf(error));

/** Discord shows it for 10 s. */
const TYPING_MS = 8_000;

/** Shows that the bot is at work where a task works. @returns ends it */
export type ShowTyping = (task: Pick<Task, 'workId' | 'actor'>) => () => void;

export function createTyping({ client, clock }: { readonly client: Client; readonly clock: Clock }): ShowTyping {
  return ({ workId, actor }) => {
    let cancel = () => {};
    let over = false;
    const show = async () => {
      const channel = await channelOf(client, workId ?? actor.channelId).catch(() => undefined);
      if (over || channel === undefined) return;
      // The indicator is a courtesy: the task works without it.
      await channel.sendTyping().catch(() => undefined);
      if (!over) cancel = clock.after(TYPING_MS, () => void show());
    };
    void show();
    return () => {
      over = true;
      cancel();
    };
  };
}
