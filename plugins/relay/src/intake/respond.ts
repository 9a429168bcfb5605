import { type Clock, type Identities, type Logger, type Turn, UserError } from '@cinnabar/sdk';
import type { Directs } from '../agents/dm-agents.js';
import { assertLetIn, grantOf, guildIdentity, isLetInto, placesOf } from '../agents/grants.js';
import type { Posts } from '../agents/message-authors.js';
import {
  byKey,
  type Chosen,
  chooseAgent,
  type GuildAgent,
  modeOf,
  namedIn,
  type Roster,
  type Rosters,
} from '../agents/roster.js';
import type { Budget } from '../budget.js';
import type { OutageNotices } from '../delivery/notices.js';
import { turnEvent } from '../events/message-event.js';
import type { OwnThreads } from '../presence/messages.js';
import { type RelaySettings, rulesIn } from '../settings.js';
import type { RelayEvent, RelayQueue } from '../types.js';
import { type Consent, consentTo } from './consent.js';

interface RespondParts {
  readonly rosters: Rosters;
  readonly directs: Directs;
  readonly identities: Identities;
  readonly ownThreads: Pick<OwnThreads, 'wasFirst'>;
  readonly posts: Posts;
  readonly settings: RelaySettings;
  readonly consent: Consent;
  readonly clock: Clock;
  readonly log: Logger;
  readonly offer: (event: RelayEvent) => Promise<unknown>;
}

/** Takes a turn for an agent: resolves once it is written down. @throws UserError when no agent will be told of it, with why */
export async function respond(turn: Turn, parts: RespondParts): Promise<void> {
  const { settings, clock, log, offer } = parts;
  const { guildId } = turn.actor;
  const agent = guildId === null ? await directAgent(turn, parts) : await guildAgent(turn, guildId, parts);
  if (agent === undefined) return;
  const { reply_thread_depth: depth } = await rulesIn(settings, guildId, turn.user.id);
  const opensThread = turn.message !== null && (await parts.ownThreads.wasFirst(turn.message));
  await offer(await turnEvent(turn, { agent, opensThread, depth, clock, log }));
}

/** `undefined` when the person is asked first: their message comes in again once they agree. */
async function directAgent(turn: Turn, parts: RespondParts): Promise<string | undefined> {
  const agent = await parts.directs.agentOf(turn.user.id);
  if (agent === undefined)
    throw new UserError('No agent answers direct messages here: the owner of the bot has chosen none.');
  return (await consentTo(turn, parts.consent)) ? agent.key : undefined;
}

async function guildAgent(turn: Turn, guildId: string, parts: RespondParts): Promise<string> {
  const { rosters } = parts;
  const { channel, trigger } = turn;
  const roster = rosters.enabled(guildId);
  if (roster === undefined)
    throw new UserError('The agents of this server are switched off. An admin can switch them on with `relay enable`.');
  if (modeOf(roster, placesOf(channel)) === 'off') {
    throw new UserError(
      'Nothing reaches the agents from this channel: its mode is `off`. An admin can change that with `relay mode`.',
    );
  }
  const chosen = await chosenFor(turn, await rosterOf(roster, guildId, channel, parts), parts);
  if (chosen === undefined)
    throw new UserError('No agent answers here yet. An admin can let one in with `relay agent <id>`.');
  await assertLetIn(parts.identities, guildId, chosen, channel);
  parts.log.debug('a turn is for an agent', { turnId: turn.id, trigger, agent: chosen.key });
  return chosen.key;
}

/** Where the default agent has not been let in. */
function onlyOf(roster: Roster): Chosen | undefined {
  const [key, ...others] = Object.keys(roster.agents);
  return others.length === 0 ? byKey(roster, key) : undefined;
}

/** The guild's agents that have been let into a channel; all of them where none has, so that the reason can be said. */
async function rosterOf(roster: Roster, guildId: string, channel: Turn['channel'], { identities }: RespondParts) {
  const own: [string, GuildAgent][] = [];
  for (const [key, agent] of Object.entries(roster.agents)) {
    const grant = await grantOf(identities, guildIdentity(guildId, key), guildId);
    if (grant !== undefined && isLetInto(grant.channels, channel)) own.push([key, agent]);
  }
  return own.length === 0 ? roster : { ...roster, agents: Object.fromEntries(own) };
}

/** The one that is named, else the one that wrote what is replied to, else the channel's, else the default. */
async function chosenFor(
  { text, channel, message }: Turn,
  roster: Roster,
  { posts }: RespondParts,
): Promise<Chosen | undefined> {
  const repliedTo = message?.reference?.messageId;
  const author = repliedTo === undefined ? undefined : await posts.agentOf(channel.id, repliedTo);
  return (
    namedIn(roster, text) ?? byKey(roster, author) ?? chooseAgent(roster, placesOf(channel), text) ?? onlyOf(roster)
  );
}

interface OfferParts {
  readonly queue: RelayQueue;
  readonly budget: Budget;
  readonly outages: Pick<OutageNotices, 'taken'>;
}

/**
 * Offers an event to the queue, within the guild's budget.
 * @throws UserError when it is not taken
 */
export async function offer(event: RelayEvent, { queue, budget, outages }: OfferParts): Promise<void> {
  const refusal = await budget.refusal(event.guildId);
  if (refusal !== undefined) throw new UserError(refusal);
  const { status } = await queue.offer(event);
  if (status === 'refused') {
    throw new UserError('Too many messages are waiting for the agent already. Please try again in a while.');
  }
  if (status === 'taken') await outages.taken(event);
}
