import type { Identities, IdentityGrant } from '@cinnabar/sdk';
import type { RelayStores } from '../context.js';
import type { RelayEvent } from '../events/event.js';
import { directGrant, grantOf, guildIdentity, saveGrant } from './grants.js';
import { byKey } from './roster.js';

/** The agent that an event is for, by the settings of this moment. */
export interface Target {
  readonly agentId: string;
  /** As whom it acts. */
  readonly identity: string;
  /** For people. */
  readonly name: string;
  /** Whom it answers to: the member who caused the event, else who let the agent in. */
  readonly userId: string | undefined;
  /** The channels that it has been let into. */
  readonly channels: IdentityGrant['channels'];
  /** Names of the tools that it was granted. */
  readonly granted: ReadonlySet<string>;
}

/**
 * The agent of an event. Looked up at the delivery, so that a change of the settings also holds for what is queued.
 * @returns `undefined` when the agent was removed or switched off
 */
export async function targetOf(event: RelayEvent, stores: RelayStores): Promise<Target | undefined> {
  return event.guildId === null ? directTarget(event, stores) : guildTarget(event, event.guildId, stores);
}

async function guildTarget(event: RelayEvent, guildId: string, { rosters, identities }: RelayStores) {
  const roster = rosters.enabled(guildId);
  const chosen = roster === undefined ? undefined : byKey(roster, event.agent);
  if (chosen === undefined) return undefined;
  const identity = guildIdentity(guildId, chosen.key);
  const grant = await grantOf(identities, identity, guildId);
  return {
    agentId: chosen.agent.agentId,
    identity,
    name: chosen.agent.name,
    userId: event.userId ?? grant?.userId,
    channels: grant?.channels ?? [],
    granted: new Set(Object.keys(grant?.tools ?? {})),
  };
}

async function directTarget({ userId, channelId }: RelayEvent, { dmAgents, settings }: RelayStores) {
  if (userId === null || (await settings.user(userId).get()).dm !== 'on') return undefined;
  const agent = await dmAgents.agentOf(userId);
  if (agent === undefined) return undefined;
  const { channels, tools } = directGrant(userId, channelId);
  const granted = new Set(Object.keys(tools));
  return { agentId: agent.agentId, identity: agent.identity, name: 'agent', userId, channels, granted };
}

/** Grants the agent of direct messages the conversation of an event, and no other one. */
export async function grantConversation(
  identities: Identities,
  { identity, name }: Target,
  event: RelayEvent,
): Promise<void> {
  if (event.guildId !== null || event.userId === null) return;
  await saveGrant(identities, identity, name, directGrant(event.userId, event.channelId));
}
