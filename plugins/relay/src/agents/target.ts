import type { Identities, IdentityGrant } from '@cinnabar/sdk';
import type { RelaySettings } from '../settings.js';
import type { RelayEvent } from '../types.js';
import type { Directs } from './dm-agents.js';
import { directGrant, grantOf, guildIdentity, saveGrant } from './grants.js';
import { byKey, type Rosters } from './roster.js';

/** The agent that an event is for, as things are now. */
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

export interface TargetParts {
  readonly rosters: Rosters;
  readonly directs: Directs;
  readonly identities: Identities;
  readonly settings: RelaySettings;
}

/** Looked up when the agent is told, so that a change also holds for what waits. `undefined`: there is nobody to tell any more. */
export async function targetOf(event: RelayEvent, parts: TargetParts): Promise<Target | undefined> {
  return event.guildId === null ? directTarget(event, parts) : guildTarget(event, event.guildId, parts);
}

async function guildTarget(event: RelayEvent, guildId: string, { rosters, identities }: TargetParts) {
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

async function directTarget({ userId, channelId }: RelayEvent, { directs, settings }: TargetParts) {
  if (userId === null || (await settings.user(userId).get()).dm !== 'on') return undefined;
  const agent = await directs.agentOf(userId);
  if (agent === undefined) return undefined;
  const { channels, tools } = directGrant(userId, channelId);
  const granted = new Set(Object.keys(tools));
  return { agentId: agent.agentId, identity: agent.identity, name: 'agent', userId, channels, granted };
}

/** Lets the agent of direct messages into the conversation that it is told of, and into no other one any more. */
export async function letIntoDirect(
  identities: Identities,
  { identity, name }: Target,
  event: RelayEvent,
): Promise<void> {
  if (event.guildId !== null || event.userId === null) return;
  await saveGrant(identities, identity, name, directGrant(event.userId, event.channelId));
}
