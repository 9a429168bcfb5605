import { compareIds, isForPeopleOnly, isOwnMessage, isQuiet, speakerId, UserError, z } from '@cinnabar/sdk';
import type { GuildTextBasedChannel, Message } from 'discord.js';
import { placesOf } from '../agents/permissions.js';
import { chooseAgent, modeOf } from '../agents/roster.js';
import type { Relay } from '../context.js';
import type { RelayEvent } from '../events/event.js';
import { linkOf, namesOf, placeFacts } from '../events/message-event.js';
import { enqueue } from '../intake/respond.js';
import { rulesIn } from '../settings.js';

/** A channel with messages that no digest has covered. */
export const digests = {
  scope: 'channel',
  version: 1,
  schema: z.object({
    guildId: z.string(),
    /** The first message that no digest has covered, and its time. */
    firstId: z.string(),
    at: z.number(),
  }),
} as const;
type StoredDigest = z.output<typeof digests.schema>;

interface Gathering extends StoredDigest {
  /** Messages since this process loaded or began the digest. */
  count: number;
}

const SHOWN = 20;
const MOST_READ = 100;

export type Digests = Awaited<ReturnType<typeof openDigests>>;

/** Collects messages in channels whose mode is `digest`, and queues their digests. */
export async function openDigests(relay: Relay) {
  const { rosters, settings, clock, client, log } = relay;
  const { digests: stored } = relay.collections;
  const gathering = new Map<string, Gathering>();
  for await (const [channelId, open] of stored.entries()) gathering.set(channelId, { ...open, count: 0 });

  const forget = async (channelId: string) => {
    gathering.delete(channelId);
    await stored.of(channelId).delete();
  };
  const send = async (channelId: string, open: Gathering) => {
    // The guild belongs to another process, or is unavailable because of an outage of Discord.
    if (client.guilds.cache.get(open.guildId)?.available !== true) return;
    const roster = rosters.enabled(open.guildId);
    const channel = client.channels.cache.get(channelId);
    if (channel === undefined || channel.isDMBased() || !channel.isTextBased()) return forget(channelId);
    const places = placesOf(channel);
    if (roster === undefined || modeOf(roster, places) !== 'digest') return forget(channelId);
    const chosen = chooseAgent(roster, places, '');
    if (isQuiet(clock.now(), await rulesIn(settings, open.guildId))) return;
    // Messages from here on begin the next digest.
    gathering.delete(channelId);
    const digest = chosen === undefined ? undefined : await digestOf(channel, chosen.key, open, clock.now());
    // Queued before its entry is deleted. After a crash in between, the queue recognises the repeated digest by its id.
    if (digest !== undefined) await enqueue(digest, relay);
    // A message since then has replaced the entry by that of the next digest.
    if (!gathering.has(channelId)) await forget(channelId);
  };
  const trySend = async (channelId: string, open: Gathering) => {
    try {
      await send(channelId, open);
    } catch (error) {
      log.warn('a digest was not sent', { channelId, error });
      // Over the budget, or the queue is full: the digest is dropped. Other errors may be temporary.
      if (error instanceof UserError) await forget(channelId);
      else gathering.set(channelId, open);
    }
  };

  return {
    /** Counts a message of a channel whose mode is `digest`, and queues the digest if it is full. */
    async note({ channelId, guildId, id }: Message<true>): Promise<void> {
      const known = gathering.get(channelId);
      const open = known ?? { guildId, firstId: id, at: clock.now(), count: 0 };
      open.count += 1;
      gathering.set(channelId, open);
      if (known === undefined) await stored.of(channelId).set({ guildId, firstId: id, at: open.at });
      const { digestMessages } = await rulesIn(settings, guildId);
      if (open.count >= digestMessages && gathering.get(channelId) === open) await trySend(channelId, open);
    },
    /** Queues the digests that are old enough. */
    async sendDue(): Promise<void> {
      for (const [channelId, open] of [...gathering]) {
        const { digestMinutes } = await rulesIn(settings, open.guildId);
        if (clock.now() - open.at >= digestMinutes * 60_000) await trySend(channelId, open);
      }
    },
  };
}

/** The digest of the latest messages; `undefined` when all of them were deleted. */
async function digestOf(
  channel: GuildTextBasedChannel,
  agent: string,
  open: StoredDigest,
  now: number,
): Promise<RelayEvent | undefined> {
  const read = await channel.messages.fetch({ limit: MOST_READ });
  const all = [...read.values()].filter(({ id }) => compareIds(id, open.firstId) >= 0);
  const said = all
    .filter((message) => !isOwnMessage(message) && !isForPeopleOnly(message))
    .sort((a, b) => compareIds(a.id, b.id));
  if (said.length === 0) return undefined;
  const shown = said.slice(-SHOWN);
  const people = new Set(said.map(speakerId)).size;
  const count = `${said.length} ${said.length === 1 ? 'message' : 'messages'}${all.length === MOST_READ ? ' or more' : ''}`;
  const names = namesOf(shown);
  return {
    id: `digest:${channel.id}:${open.firstId}`,
    kind: 'digest',
    agent,
    guildId: open.guildId,
    channelId: channel.id,
    userId: null,
    facts: {
      at: now,
      author: null,
      ...placeFacts(channel, channel.guild),
      messageId: null,
      content: `${count} by ${people} ${people === 1 ? 'member' : 'members'} since ${new Date(open.at).toISOString()}.`,
      chain: shown.map((message) => linkOf(message, names)),
      attachments: [],
    },
  };
}
