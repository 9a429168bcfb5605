import {
  answerMessages,
  asNotice,
  type Clock,
  earliestIdAt,
  mayRefer,
  noticeMessages,
  OperatorError,
  operatorSentenceOf,
  type Profile,
  sendText,
  t,
} from '@cinnabar/sdk';
import type { Client } from 'discord.js';
import { grantOf, guildIdentity } from '../agents/permissions.js';
import { byKey, targetOf } from '../agents/roster.js';
import type { RelayCore } from '../context.js';
import { needsReply, type RelayEvent } from '../events/event.js';
import { troubleOf } from '../letta/errors.js';
import type { Failure } from '../queue/attempts.js';
import type { Drop, RelayQueue } from '../queue/queue.js';

/** Records a failure for `relay errors`. When the agent has posted nothing, each member who waits for a reply gets one notice. */
export async function onFailed({ events, sentence, error, posted }: Failure, core: RelayCore): Promise<void> {
  const { client, errors, notices, log, clock } = core;
  const [{ guildId, channelId, agent }] = events;
  log.warn('a delivery to an agent failed', { guildId, channelId, agent, events: events.map(({ id }) => id), error });
  if (guildId !== null) await errors.record(guildId, { channelId, agent, sentence }, error);
  const reason = reasonForOwner(error);
  if (reason !== undefined) {
    notices.alert({
      kind: 'relay-refused',
      text: reason,
      remedy: () => t('Correct the key or the address, start the bot again, and try `!relay setup`.'),
    });
  }
  if (posted) return;
  const newest = new Map(events.filter(needsReply).map((event) => [event.userId, event]));
  for (const event of newest.values()) {
    await postAt(event, sentence, `failed:${event.id}`, { client, clock, notice: true }).catch((problem: unknown) =>
      log.info('a notice of a failed delivery could not be posted', { channelId, error: problem }),
    );
  }
}

/** A sentence for problems that only the owner of the bot can fix; members get a simpler one. */
function reasonForOwner(error: unknown): (() => string) | undefined {
  if (error instanceof OperatorError) return () => operatorSentenceOf(error) ?? error.message;
  const isRefused = troubleOf(error).kind === 'unauthorised';
  return isRefused ? () => t('The Letta server did not accept the key in LETTA_API_KEY.') : undefined;
}

/** Notifies a guild's admins that messages were dropped, in the channel of its default agent. */
export async function onDropped({ guildId, channelId, count }: Drop, core: RelayCore): Promise<void> {
  const { client, languages, rosters, identities, log } = core;
  log.warn('messages for an agent were given up: too many waited', { guildId, channelId, count });
  const roster = guildId === null ? undefined : rosters.of(guildId);
  const chosen = roster === undefined ? undefined : byKey(roster, roster.defaultAgent);
  if (guildId === null || chosen === undefined) return;
  const grant = await grantOf(identities, guildIdentity(guildId, chosen.key), guildId);
  const channel = grant === undefined ? null : await client.channels.fetch(grant.channelId);
  if (channel?.isSendable() !== true) return;
  const text = await languages.speak({ guildId }, () =>
    t(
      '⚠️ {count, plural, one {A message was} other {# messages were}} given up because too many wait for the agents, the latest in <#{channelId}>. `relay status` shows more; `relay config max_queue_size` changes how many may wait.',
      { count, channelId },
    ),
  );
  await channel.send({ content: asNotice(text), allowedMentions: { parse: [] } });
}

const REPEAT_MS = 10 * 60_000;
const MOST_MEMBERS = 10_000;

export type OutageNotices = ReturnType<typeof createOutageNotices>;

/** Notifies members that their message waits for an agent that does not answer, each member once in ten minutes. */
export function createOutageNotices(core: RelayCore, queue: RelayQueue) {
  const { breakers, languages, letta, rosters, clock, log } = core;
  const notified = new Map<string, number>();

  /** Records the notice before it is posted, so that concurrent messages lead to one notice. */
  const isDue = (userId: string): boolean => {
    const at = notified.get(userId);
    if (at !== undefined && clock.now() - at < REPEAT_MS) return false;
    notified.delete(userId);
    notified.set(userId, clock.now());
    const [oldest] = notified.keys();
    if (notified.size > MOST_MEMBERS && oldest !== undefined) notified.delete(oldest);
    return true;
  };

  const notify = async (event: RelayEvent, isOpen: (agent: string) => boolean): Promise<void> => {
    const { userId } = event;
    if (userId === null || !needsReply(event)) return;
    try {
      const target = await targetOf(event, core);
      if (target === undefined || !isOpen(await letta.globalName(target.agentId)) || !isDue(userId)) return;
      const sentence = await languages.speak({ guildId: event.guildId, userId }, () =>
        t(
          '`{agent}` does not answer at the moment. Your message is kept and tried again for ten minutes; I tell you if that fails.',
          { agent: target.name },
        ),
      );
      await postAt(event, sentence, `outage:${event.id}`, core);
    } catch (error) {
      log.info('a notice of an outage could not be posted', { channelId: event.channelId, error });
    }
  };

  return {
    eventQueued: (event: RelayEvent) => notify(event, (agent) => breakers.for(agent).admitsAt > clock.now()),
    /** @param opened the agent's global name */
    async breakerOpened(opened: string): Promise<void> {
      const guildIds = [null, ...[...rosters.all()].map(([guildId]) => guildId)];
      for (const event of guildIds.flatMap(queue.pending)) await notify(event, (agent) => agent === opened);
    },
  };
}

/** Minimum time for which Discord recognises a repeated message by its nonce. */
const NONCE_KEPT_MS = 2 * 60_000;

interface PostOptions {
  readonly client: Client;
  readonly clock: Clock;
  /** Whether the text is a notice of the bot, not an agent's. */
  readonly notice?: boolean;
  /** The name and picture of the agent; by default the bot's. */
  readonly profile?: Profile | undefined;
}

/**
 * Posts a text in the channel of an event, as a reply to its message if there is one. Only the author of that message can be pinged.
 * @param key a text with the same key is posted only once, also across restarts
 * @returns the ids of the messages; none if the bot cannot write there
 */
export async function postAt(
  event: RelayEvent,
  text: string,
  key: string,
  { client, clock, notice = false, profile }: PostOptions,
): Promise<readonly string[]> {
  const { facts, userId, channelId } = event;
  const channel = await client.channels.fetch(channelId);
  if (channel?.isSendable() !== true) return [];
  const { messageId } = facts;
  const isOld = messageId !== null && clock.now() - facts.at >= NONCE_KEPT_MS;
  // Messages of a webhook have no nonce, so an earlier copy is always searched for in the channel.
  const sentAfter = profile === undefined ? (isOld ? messageId : undefined) : (messageId ?? earliestIdAt(facts.at));
  const sent = await sendText(channel, notice ? noticeMessages(text) : answerMessages(text), `relay:${key}`, {
    clock,
    sentAfter,
    profile,
    replyTo: messageId !== null && mayRefer(channel) ? messageId : undefined,
    allowedMentions: { parse: [], users: userId === null ? [] : [userId], repliedUser: true },
  });
  return sent.map(({ id }) => id);
}
