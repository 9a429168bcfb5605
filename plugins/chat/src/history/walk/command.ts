import type { Access } from '@cinnabar/sdk';
import type { SendableChannels } from 'discord.js';
import { refusalFor } from '../access/may-read.js';
import type { Members } from '../access/members.js';
import type { Ask } from '../ask.js';
import { mayUseHistory } from '../commands/authorise.js';
import { type HistoryCommand, looksLikeHistory, type MessagePlace, parseHistoryCommand } from '../commands/parse.js';
import { idBefore, olderId } from '../snowflake.js';
import type { Held } from '../store/held.js';
import type { HistoryMessage } from '../types.js';
import type { Channels } from './channels.js';
import type { Place, Trip } from './trip.js';

export const HIDDEN =
  'What a `.history` message leads to is left out: it is not there, or whoever asked or I may not read it.';

/** The newest `.history` message that counts, and where it leads. */
export interface Found {
  /** Its place in the list. */
  readonly at: number;
  readonly next: Place | undefined;
}

interface Parts {
  readonly members: Members;
  readonly channels: Channels;
}

/** Looks for the newest `.history` message whose author may use it. */
export async function findCommand(
  messages: readonly Held[],
  channel: SendableChannels,
  trip: Trip,
  { members, channels }: Parts,
): Promise<Found | undefined> {
  for (let at = messages.length - 1; at >= 0; at -= 1) {
    const message = messages[at]?.message;
    if (message === undefined || !looksLikeHistory(message.content)) continue;
    const command = parseHistoryCommand(message.content);
    if (command === undefined) continue;
    if (command.kind === 'malformed') {
      trip.note(`The \`.history\` of message ${message.id} was not followed: ${command.detail}.`);
    } else if (await mayUseHistory(message, channel, trip.options.historyRoles, members, trip.ask)) {
      return { at, next: await target(command, channel, message.id, trip, channels) };
    } else trip.note(`The \`.history\` of message ${message.id} was not followed: its author may not use it.`);
  }
  return undefined;
}

/** Why a `.history` message is not followed, as a sentence for its author; `undefined` when it is, or is none. */
export async function historyRefusal(
  message: HistoryMessage,
  channel: SendableChannels,
  historyRoles: readonly string[],
  ask: Ask,
  { members, channels, access }: Parts & { readonly access: Pick<Access, 'mayEnter'> },
): Promise<string | undefined> {
  const command = parseHistoryCommand(message.content);
  if (command === undefined) return undefined;
  if (command.kind === 'malformed') return `I do not follow this \`.history\`: ${command.detail}.`;
  if (!(await mayUseHistory(message, channel, historyRoles, members, ask)))
    return 'I do not follow this `.history`: it takes the permission to manage messages here, or a role that the admins have chosen for it.';
  const place = command.kind === 'hide' ? undefined : (command.last ?? command.first);
  if (place === undefined) return undefined;
  const there = await reach(place, channel, ask, channels);
  const reader = {
    userId: message.author.id,
    guildId: channel.isDMBased() ? null : channel.guildId,
    channelId: channel.id,
  };
  if (there !== undefined && (await refusalFor(there, [reader], access, ask)) === undefined) return undefined;
  return 'This `.history` leads nowhere: what it links to is not there, or you or I may not read it.';
}

/** Time only runs backwards: what comes after the command is out of its reach, so there can be no loop. */
async function target(
  command: Exclude<HistoryCommand, { kind: 'malformed' }>,
  channel: SendableChannels,
  commandId: string,
  trip: Trip,
  channels: Channels,
): Promise<Place | undefined> {
  const place = command.kind === 'hide' ? undefined : (command.last ?? command.first);
  if (command.kind === 'hide' || place === undefined) return undefined;
  const there = await reach(place, channel, trip.ask, channels);
  if (there === undefined) {
    trip.note(HIDDEN);
    return undefined;
  }
  const before = idBefore(commandId);
  const upTo = command.last === undefined ? before : olderId(command.last.messageId, before);
  return { channel: there, upTo, downTo: command.first?.messageId };
}

/** Within the same guild, or the same direct message. */
async function reach(
  { guildId, channelId }: MessagePlace,
  from: SendableChannels,
  ask: Ask,
  channels: Channels,
): Promise<SendableChannels | undefined> {
  if (from.isDMBased()) return guildId === null && channelId === from.id ? from : undefined;
  if (guildId !== from.guild.id) return undefined;
  return channels.find(from.guild, channelId, ask);
}
