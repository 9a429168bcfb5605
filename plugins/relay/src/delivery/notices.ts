import { asNotice, type Clock, type Identities, type Logger, OperatorError, type OwnerNotices } from '@cinnabar/sdk';
import type { Client } from 'discord.js';
import { grantOf, guildIdentity } from '../agents/grants.js';
import { byKey, type Rosters } from '../agents/roster.js';
import { type TargetParts, targetOf } from '../agents/target.js';
import type { ErrorLog } from '../error-log.js';
import { troubleOf } from '../letta/errors.js';
import type { Breakers } from '../queue/breakers.js';
import type { Drop } from '../queue/enqueue.js';
import type { Failure } from '../queue/queue.js';
import { needsReply, type RelayEvent } from '../types.js';
import { sayAt } from './post.js';

export interface FailureParts {
  readonly clock: Clock;
  readonly client: Client;
  readonly errors: ErrorLog;
  readonly rosters: Rosters;
  readonly identities: Identities;
  readonly notices: Pick<OwnerNotices, 'alert'>;
  readonly log: Logger;
}

/** Keeps it for `relay errors`; where the agent has posted nothing, tells each member who has asked, once, that there will be no answer. */
export async function onFailed(
  { events, sentence, error, posted }: Failure,
  { client, errors, notices, log, clock }: FailureParts,
): Promise<void> {
  const [{ guildId, channelId, agent }] = events;
  log.warn('an agent could not be told', { guildId, channelId, agent, events: events.map(({ id }) => id), error });
  if (guildId !== null) await errors.record(guildId, { channelId, agent, sentence }, error);
  const reason = reasonForOwner(error);
  if (reason !== undefined) {
    notices.alert({
      kind: 'relay-refused',
      text: reason,
      remedy: 'Mend the key or the address, start the bot again, and try `!relay setup`.',
    });
  }
  if (posted) return;
  const newest = new Map(events.filter(needsReply).map((event) => [event.userId, event]));
  for (const event of newest.values()) {
    await sayAt(event, sentence, `failed:${event.id}`, { client, clock, notice: true }).catch((problem: unknown) =>
      log.info('it could not be said that an agent was not told', { channelId, error: problem }),
    );
  }
}

/** What only the owner of the bot can mend, and members are told in plainer words. */
function reasonForOwner(error: unknown): string | undefined {
  if (error instanceof OperatorError) return error.message;
  const isRefused = troubleOf(error).kind === 'unauthorised';
  return isRefused ? 'The Letta server did not accept the key in LETTA_API_KEY.' : undefined;
}

/** Tells the admins of a guild that messages were given up: where its default agent was let in. */
export async function onDropped(
  { guildId, channelId, count }: Drop,
  { client, rosters, identities, log }: FailureParts,
) {
  log.warn('messages for an agent were given up: too many waited', { guildId, channelId, count });
  const roster = guildId === null ? undefined : rosters.of(guildId);
  const chosen = roster === undefined ? undefined : byKey(roster, roster.defaultAgent);
  if (guildId === null || chosen === undefined) return;
  const grant = await grantOf(identities, guildIdentity(guildId, chosen.key), guildId);
  const channel = grant === undefined ? null : await client.channels.fetch(grant.channelId);
  if (channel?.isSendable() !== true) return;
  const what = count === 1 ? 'A message was' : `${count} messages were`;
  await channel.send({
    content: asNotice(
      `⚠️ ${what} given up because too many wait for the agents, the latest in <#${channelId}>. \`relay status\` shows more; \`relay config max_queue_size\` changes how many may wait.`,
    ),
    allowedMentions: { parse: [] },
  });
}

const AGAIN_MS = 10 * 60_000;
const MOST_MEMBERS = 10_000;

interface OutageParts extends TargetParts {
  readonly breakers: Breakers;
  readonly worldName: (agentId: string) => Promise<string>;
  readonly client: Client;
  readonly clock: Clock;
  readonly log: Logger;
  /** All events that have not ended. */
  readonly pending: () => readonly RelayEvent[];
}

/** Tells members that their message waits for an agent that does not answer at the moment: each once in ten minutes. */
export interface OutageNotices {
  /** An event was taken. */
  taken(event: RelayEvent): Promise<void>;
  /** The breaker of an agent has opened: what waits for it waits longer. @param agent what names it in the whole world */
  opened(agent: string): Promise<void>;
}

export function createOutageNotices(parts: OutageParts): OutageNotices {
  const { breakers, worldName, clock, log, pending } = parts;
  const told = new Map<string, number>();

  /** Noted before it is said, so that several messages at once get one word. */
  const isDue = (userId: string): boolean => {
    const at = told.get(userId);
    if (at !== undefined && clock.now() - at < AGAIN_MS) return false;
    told.delete(userId);
    told.set(userId, clock.now());
    const [oldest] = told.keys();
    if (told.size > MOST_MEMBERS && oldest !== undefined) told.delete(oldest);
    return true;
  };

  const tell = async (event: RelayEvent, isOpen: (agent: string) => boolean): Promise<void> => {
    const { userId } = event;
    if (userId === null || !needsReply(event)) return;
    try {
      const target = await targetOf(event, parts);
      if (target === undefined || !isOpen(await worldName(target.agentId)) || !isDue(userId)) return;
      const sentence = `\`${target.name}\` does not answer at the moment. Your message is kept and tried again for ten minutes; you get a word if nothing comes of it.`;
      await sayAt(event, sentence, `outage:${event.id}`, parts);
    } catch (error) {
      log.info('a member could not be told of an outage', { channelId: event.channelId, error });
    }
  };

  return {
    taken: (event) => tell(event, (agent) => breakers.for(agent).admitsAt > clock.now()),
    async opened(opened) {
      for (const event of pending()) await tell(event, (agent) => agent === opened);
    },
  };
}
