import type { FrontDoor, Identities, IdentityObjection } from '@cinnabar/sdk';
import { LISTER } from '../commands/listing.js';
import type { RelaySettings } from '../settings.js';
import type { RelayEvent } from '../types.js';
import type { Directs } from './directs.js';
import { agentKeyOf, guildIdentity, PLUGIN } from './identity.js';
import type { Rosters } from './roster.js';

export interface StandingParts {
  readonly rosters: Rosters;
  readonly directs: Directs;
  readonly settings: RelaySettings;
  readonly identities: Identities;
  readonly frontDoor: FrontDoor | undefined;
  /** Whether all servers that someone shares with the bot have switched direct messages off. */
  readonly isShut: (userId: string) => Promise<boolean>;
}

/** Whether agents may act at the moment: what the switches of the guild, and the consent of the member, say now. */
export interface AgentStanding {
  /** For every call under an identity of the relay. */
  readonly objection: IdentityObjection;
  /** Why the agent of an event may not be told of it, as a clause for people; `undefined` while it may. */
  of(event: RelayEvent): Promise<string | undefined>;
}

export function createStanding(parts: StandingParts): AgentStanding {
  const { rosters, directs, settings, identities, frontDoor, isShut } = parts;

  const inGuild = (guildId: string, key: string | undefined): string | undefined => {
    const roster = rosters.enabled(guildId);
    if (roster === undefined) return 'the agents of this server are switched off';
    return key !== undefined && Object.hasOwn(roster.agents, key) ? undefined : 'this agent has been sent away';
  };

  const inDirect = async (userId: string, channelId: string, key: string | undefined) => {
    if ((await settings.user(userId).get()).dm !== 'on') return 'agents are switched off in these direct messages';
    if ((await directs.agentOf(userId))?.key !== key)
      return 'this agent does not answer these direct messages any more';
    if (await isShut(userId)) return 'the servers shared with this member have switched off answers to direct messages';
    const responder = await frontDoor?.responderIn(null, channelId);
    return responder === undefined || responder === PLUGIN ? undefined : `${responder} answers these direct messages`;
  };

  return {
    async objection({ id, grants }, guildId) {
      // It lists tools for the Letta server, in no channel.
      if (id === LISTER) return undefined;
      if (guildId !== null) return inGuild(guildId, agentKeyOf(id));
      const grant = grants.find((one) => one.guildId === null);
      return grant === undefined ? undefined : inDirect(grant.userId, grant.channelId, agentKeyOf(id));
    },
    async of({ guildId, userId, channelId, agent }) {
      if (guildId !== null)
        return inGuild(guildId, agent) ?? identities.standing(guildIdentity(guildId, agent), guildId);
      return userId === null ? 'this agent is let into no direct messages' : inDirect(userId, channelId, agent);
    },
  };
}
