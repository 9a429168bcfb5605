import { asNotice, type Clock, type Identities, type Logger, OperatorError, type OwnerNotices } from '@cinnabar/sdk';
import type { Client } from 'discord.js';
import { byKey } from '../agents/choose.js';
import { grantOf, guildIdentity } from '../agents/identity.js';
import type { Rosters } from '../agents/roster.js';
import { troubleOf } from '../letta/server/trouble.js';
import type { Drop } from '../queue/drops.js';
import type { Failure } from '../queue/options.js';
import type { ErrorLog } from '../resilience/error-log.js';
import { isAsked } from './asked.js';
import { sayAt } from './say.js';

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
  const newest = new Map(events.filter(isAsked).map((event) => [event.userId, event]));
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
