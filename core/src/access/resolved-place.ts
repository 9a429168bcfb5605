import type { AccessRequest, Actor, DecisionReason, IdentityGrant, Place } from '@cinnabar/sdk';
import type { AccessParts } from './access.js';

/** The user and the place that a decision is made for. */
export interface ResolvedPlace {
  readonly userId: string;
  readonly guildId: string | null;
  /** `undefined`: the guild as a whole. */
  readonly channelId: string | undefined;
  /** It is not the place in which the actor is: a refusal must tell nothing of it. */
  readonly elsewhere: boolean;
}

export const OUT_OF_REACH: DecisionReason = {
  rule: 'reach',
  allowed: false,
  text: 'there is no such place, or it is out of reach from here',
};

/** Finds the place of a request that takes effect elsewhere, or of an agent that acts under an identity; or why there is none. */
export function createPlaceResolver({ identities, client }: Pick<AccessParts, 'identities' | 'client'>) {
  /** A channel counts as granted with its threads, a category with its channels. */
  const covers = (channels: IdentityGrant['channels'], channelId: string): boolean => {
    if (channels === 'all' || channels.includes(channelId)) return true;
    const channel = client.channels.cache.get(channelId);
    const parentId = channel === undefined || channel.isDMBased() ? null : channel.parentId;
    return parentId !== null && covers(channels, parentId);
  };

  const grantFor = async (identity: string, guildId: string | null) =>
    (await identities.get(identity))?.grants.find((grant) => grant.guildId === guildId);

  const asIdentity = async (
    actor: Actor,
    identity: string,
    { kind, name, at }: AccessRequest,
  ): Promise<ResolvedPlace | DecisionReason> => {
    const place = at ?? actor;
    const grants = (await identities.get(identity))?.grants ?? [];
    // Before anything is said of the place: a tool that it has nowhere must not tell which places there are.
    if (grants.length > 0 && (kind !== 'tool' || !grants.some(has(name)))) return notGranted(name);
    const grant = grants.find(({ guildId }) => guildId === place.guildId);
    if (grant === undefined) return at === undefined ? notLetIn : OUT_OF_REACH;
    const objection = await identities.standing(identity, place.guildId);
    if (objection !== undefined) return { rule: 'identity', allowed: false, text: objection };
    if (place.guildId === actor.guildId && actor.userId !== grant.userId) return notLetIn;
    if (at !== undefined) return within(grant, name, actor, at);
    return has(name)(grant) ? resolve(grant.userId, place, false) : notGranted(name);
  };

  const within = (grant: IdentityGrant, name: string, actor: Actor, at: Place): ResolvedPlace | DecisionReason => {
    if (has(name)(grant) && reaches(grant, at)) return resolve(grant.userId, at, true);
    // Where it is, it knows.
    return isSamePlace(actor, at) ? notLetInHere : OUT_OF_REACH;
  };

  const reaches = ({ channels, channelId: home }: IdentityGrant, { guildId, channelId }: Place) => {
    if (guildId === null) return channelId === home;
    return channelId === undefined ? channels === 'all' : covers(channels, channelId);
  };

  return {
    async resolve(actor: Actor, request: AccessRequest): Promise<ResolvedPlace | DecisionReason> {
      const { at } = request;
      if (actor.identity !== undefined) return asIdentity(actor, actor.identity, request);
      if (at === undefined || isSamePlace(actor, at)) return resolve(actor.userId, actor, false);
      return isWithin(actor, at) ? resolve(actor.userId, at, true) : OUT_OF_REACH;
    },
    /** As whom an actor looks into a place, whatever they want to do there; `undefined` where it is out of reach. */
    async visiblePlace(actor: Actor, at: Place): Promise<ResolvedPlace | undefined> {
      if (actor.identity === undefined) return isWithin(actor, at) ? resolve(actor.userId, at, true) : undefined;
      if ((await identities.standing(actor.identity, at.guildId)) !== undefined) return undefined;
      const grant = await grantFor(actor.identity, at.guildId);
      return grant !== undefined && reaches(grant, at) ? resolve(grant.userId, at, true) : undefined;
    },
    /** Whose memberships a decision about an actor rests on. */
    async usersBehind({ userId, identity }: Actor): Promise<readonly string[]> {
      if (identity === undefined) return [userId];
      return [userId, ...((await identities.get(identity))?.grants ?? []).map((grant) => grant.userId)];
    },
    /** The actor in the guild in which a call takes effect: an identity acts for the user who granted it access there. */
    async actorAt(actor: Actor, at: Place): Promise<Actor> {
      if (actor.identity === undefined || at.guildId === actor.guildId) return actor;
      const grant = await grantFor(actor.identity, at.guildId);
      if (grant === undefined) return actor;
      const { userId, guildId, channelId } = grant;
      return { userId, guildId, channelId, identity: actor.identity };
    },
    /** What the grant says of one tool; `undefined` for a person, and for what was not granted. */
    async modeOf({ identity, guildId }: Actor, tool: string) {
      if (identity === undefined) return undefined;
      const tools = (await grantFor(identity, guildId))?.tools ?? {};
      return Object.hasOwn(tools, tool) ? tools[tool] : undefined;
    },
  };
}

const notLetIn: DecisionReason = {
  rule: 'identity',
  allowed: false,
  text: 'this agent has not been let in here, or not any more',
};

const notLetInHere: DecisionReason = {
  rule: 'identity',
  allowed: false,
  text: 'this agent has not been let into the channel in which it would act',
};

const has =
  (tool: string) =>
  ({ tools }: IdentityGrant) =>
    Object.hasOwn(tools, tool);

const notGranted = (tool: string): DecisionReason => ({
  rule: 'identity',
  allowed: false,
  text: `"${tool}" has not been granted to this agent`,
});

/** A guild's places are not reachable from another guild, and a direct message only by its member, who reaches their own guilds from there. */
function isWithin(actor: Actor, at: Place): boolean {
  return at.guildId === null ? isSamePlace(actor, at) : actor.guildId === at.guildId || actor.guildId === null;
}

const isSamePlace = (actor: Actor, at: Place) => actor.guildId === at.guildId && actor.channelId === at.channelId;

const resolve = (userId: string, { guildId, channelId }: Place, elsewhere: boolean): ResolvedPlace => ({
  userId,
  guildId,
  channelId,
  elsewhere,
});
