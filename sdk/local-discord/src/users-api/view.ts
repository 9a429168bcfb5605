import type { APIMessage } from 'discord-api-types/v10';
import { messagePayload } from '../payload/messages.js';
import { fullViewer } from '../rules/messages.js';
import { canView, hasChannelPermission } from '../rules/permissions.js';
import { compareIds } from '../snowflakes.js';
import type { LocalChannel } from '../state/channels.js';
import type { LocalGuild } from '../state/guilds.js';
import type { LocalMessage } from '../state/messages.js';
import type { LocalUser } from '../state/users.js';
import type { World } from '../world.js';
import type { SeenChannel, SeenGuild, SeenPerson, Snapshot } from './protocol.js';

/** By member, then channel: the last read message. */
export type ReadMarks = Map<string, Map<string, string>>;

export function isVisible(world: World, user: LocalUser, message: LocalMessage): boolean {
  if (message.visibleTo && message.visibleTo !== user) return false;
  return canView(message.channel, user, world.clock.now());
}

/** The message in the member's view. */
export function seenMessage(message: LocalMessage, user: LocalUser): APIMessage {
  const payload = messagePayload(message, fullViewer(user.id));
  return { ...payload, content: message.content };
}

export function snapshotFor(world: World, user: LocalUser, marks: ReadMarks, canMoveClock: boolean): Snapshot {
  const guilds = [...world.guilds.values()].filter(({ members }) => members.has(user.id));
  const people = new Map<string, SeenPerson>([[user.id, seenPerson(user)]]);
  for (const guild of guilds)
    for (const { user: each } of guild.members.values()) people.set(each.id, seenPerson(each));
  const dms = [...user.dms.values()].flatMap((channel) => {
    const other = channel.recipients.find((each) => each !== user);
    if (other === undefined) return [];
    people.set(other.id, seenPerson(other));
    return [{ ...seenChannel(world, user, channel, marks), name: other.name, with: other.id }];
  });
  return {
    me: seenPerson(user),
    now: world.clock.now(),
    people: [...people.values()],
    guilds: guilds.map((guild) => seenGuild(world, user, guild, marks)),
    dms,
    canMoveClock,
  };
}

function seenPerson({ id, name, bot }: LocalUser): SeenPerson {
  return { id, name, bot };
}

function seenGuild(world: World, user: LocalUser, guild: LocalGuild, marks: ReadMarks): SeenGuild {
  const now = world.clock.now();
  const channels = [...guild.channels.values(), ...guild.threads.values()].filter(
    (channel) => !channel.deleted && canView(channel, user, now),
  );
  return {
    id: guild.id,
    name: guild.name,
    channels: channels.map((channel) => seenChannel(world, user, channel, marks)),
    members: [...guild.members.values()].map((member) => ({
      id: member.user.id,
      name: member.nick ?? member.user.name,
      roles: [...member.roles].map((role) => role.id),
    })),
    roles: [...guild.roles.values()].map(({ id, name, color, position }) => ({ id, name, color, position })),
  };
}

function seenChannel(world: World, user: LocalUser, channel: LocalChannel, marks: ReadMarks): SeenChannel {
  const { id, name, type, topic, position, parent } = channel;
  const now = world.clock.now();
  const need = channel.isThread ? 'SendMessagesInThreads' : 'SendMessages';
  const writable = channel.holdsMessages && (channel.isDm || hasChannelPermission(channel, user, now, need));
  return {
    id,
    name,
    type,
    topic,
    position,
    parentId: parent?.id ?? null,
    writable,
    moderated: !channel.isDm && hasChannelPermission(channel, user, now, 'ManageMessages'),
    unread: unread(channel, user, marks),
  };
}

/** Number of other members' messages in the channel that the member has not read. */
export function unread(channel: LocalChannel, user: LocalUser, marks: ReadMarks): number {
  const mark = marks.get(user.id)?.get(channel.id) ?? '0';
  let count = 0;
  for (const message of channel.messagesById.values())
    if (compareIds(message.id, mark) > 0 && message.author.id !== user.id && (message.visibleTo ?? user) === user)
      count += 1;
  return count;
}
