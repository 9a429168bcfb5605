import {
  type AccessRequest,
  type Actor,
  CinnabarError,
  type Collection,
  createKeyedMutex,
  type DecisionReason,
  type Identities,
  type Identity,
  type IdentityGrant,
  type IdentityObjection,
  type IdentityProfiles,
  type Logger,
  type PersonalData,
  type Place,
  t,
  z,
} from '@cinnabar/sdk';
import type { AccessDependencies } from '../access/access.js';

const grant = z.object({
  guildId: z.string().nullable(),
  userId: z.string(),
  channelId: z.string(),
  channels: z.union([z.literal('all'), z.array(z.string()).readonly()]),
  tools: z.record(z.string(), z.enum(['allow', 'confirm'])),
});

/** The stored form of an identity, by its id. */
export const identitySchema = z.object({
  id: z.string(),
  plugin: z.string(),
  name: z.string(),
  grants: z.array(grant).readonly().refine(isOneForEachGuild, 'there is more than one grant for a guild'),
});

/** The characters of the id become part of a file name. */
const ID = /^[a-z0-9][a-z0-9:_-]{0,99}$/;

export interface IdentityService extends Identities {
  /** The grants that a user gave and is responsible for. */
  readonly personalData: PersonalData;
}

interface IdentityDependencies {
  readonly documents: Collection<z.output<typeof identitySchema>, 'global'>;
  /** Registers a listener for times in which removals may have been missed; left out where none can be missed. */
  readonly onGap?: (listener: () => unknown) => unknown;
  /** Whether a plugin runs, and is switched on in the guild. */
  readonly isOn: (guildId: string | null, plugin: string) => Promise<boolean>;
  readonly log: Logger;
}

/** Identities in memory, read once; changes are written before they take effect. */
export function createIdentities({ documents, onGap, isOn, log }: IdentityDependencies): IdentityService {
  const objections = new Map<string, Set<IdentityObjection>>();
  const profiles = new Map<string, IdentityProfiles>();
  let reading: Promise<Map<string, Identity>> | undefined;
  const all = () => {
    reading ??= read().catch((error: unknown) => {
      reading = undefined;
      throw error;
    });
    return reading;
  };
  const read = async () => {
    const known = new Map<string, Identity>();
    for await (const [, identity] of documents.entries()) known.set(identity.id, identity);
    return known;
  };

  // One change of an identity at a time, in memory and on the disk: no change may restore what another one removes.
  const changes = createKeyedMutex();

  /** Reads an identity again that another process may have changed. */
  const follow = (id: string) =>
    changes
      .run(id, async () => {
        const known = await all();
        const identity = await documents.of(id).find();
        if (identity === undefined) known.delete(id);
        else known.set(id, identity);
      })
      .catch((error: unknown) => {
        // Loaded completely at the first use.
        reading = undefined;
        log.warn('an agent that was changed elsewhere could not be read', { identity: id, error });
      });
  documents.watch((id, { isRemote }) => {
    if (isRemote && reading !== undefined) void follow(id);
  });
  onGap?.(async () => {
    for (const id of (await reading?.catch(() => undefined))?.keys() ?? []) void follow(id);
  });

  const write = async (known: Map<string, Identity>, identity: Identity) => {
    known.set(identity.id, await documents.of(identity.id).set({ ...identity }));
  };
  const erase = async (known: Map<string, Identity>, id: string) => {
    // An identity that cannot be deleted from the disk must not stay in effect: it is removed from memory first.
    known.delete(id);
    await documents.of(id).delete();
  };
  // Copies, so that changing a copy grants nothing.
  const having = async (isMeant: (grant: IdentityGrant) => boolean) =>
    [...(await all()).values()].filter(({ grants }) => grants.some(isMeant)).map((one) => structuredClone(one));
  const grantedBy = (userId: string) => having((one) => one.userId === userId);

  return {
    get: async (id) => structuredClone((await all()).get(id)),
    list: (guildId) => having((one) => one.guildId === guildId),
    save: (identity) =>
      changes.run(identity.id, async () => {
        const known = await all();
        check(identity, known.get(identity.id));
        await write(known, identity);
      }),
    remove: (id) => changes.run(id, async () => erase(await all(), id)),
    async standing(id, guildId) {
      const identity = structuredClone((await all()).get(id));
      if (identity === undefined) return undefined;
      const { plugin } = identity;
      try {
        if (!(await isOn(guildId, plugin))) return t('the plugin "{plugin}" is switched off here', { plugin });
        for (const check of objections.get(plugin) ?? []) {
          const objection = await check(identity, guildId);
          if (objection !== undefined) return objection;
        }
        return undefined;
      } catch (error) {
        log.error('it could not be checked whether an agent may act', { identity: id, guildId, error });
        return t('it could not be checked whether this agent may act');
      }
    },
    object(plugin, check) {
      const own: IdentityObjection = (identity, guildId) => check(identity, guildId);
      const known = objections.get(plugin) ?? new Set<IdentityObjection>();
      objections.set(plugin, known.add(own));
      return () => void known.delete(own);
    },
    async profile(id, guildId) {
      const identity = structuredClone((await all()).get(id));
      if (identity === undefined) return undefined;
      try {
        return await profiles.get(identity.plugin)?.(identity, guildId);
      } catch (error) {
        log.error('it could not be found out under which name an agent speaks', { identity: id, guildId, error });
        return undefined;
      }
    },
    giveProfiles(plugin, profileOf) {
      profiles.set(plugin, profileOf);
      return () => {
        if (profiles.get(plugin) === profileOf) profiles.delete(plugin);
      };
    },
    personalData: {
      export: grantedBy,
      async forget(userId) {
        const known = await all();
        for (const { id } of await grantedBy(userId)) {
          await changes.run(id, async () => {
            const identity = known.get(id);
            const grants = identity?.grants.filter((one) => one.userId !== userId) ?? [];
            // An identity without grants is deleted, too: its id may contain the id of its user.
            await (identity === undefined || grants.length === 0
              ? erase(known, id)
              : write(known, { ...identity, grants }));
          });
        }
      },
    },
  };
}

function check({ id, plugin }: Identity, taken: Identity | undefined): void {
  if (!ID.test(id)) {
    const detail = 'lower case letters, digits, ":", "_" and "-", at most 100';
    throw new CinnabarError('CINNABAR_NAME_INVALID', { kind: 'identity', name: id, detail });
  }
  if (taken !== undefined && taken.plugin !== plugin) {
    throw new CinnabarError('CINNABAR_NAME_TAKEN', { kind: 'identity', name: id, plugin: taken.plugin });
  }
}

function isOneForEachGuild(grants: readonly { readonly guildId: string | null }[]): boolean {
  return new Set(grants.map(({ guildId }) => guildId)).size === grants.length;
}

/** The user and the place for which a decision is made. */
export interface ResolvedPlace {
  readonly userId: string;
  readonly guildId: string | null;
  /** `undefined`: the guild as a whole. */
  readonly channelId: string | undefined;
  /** It is not the place in which the actor is, so a refusal must reveal nothing about it. */
  readonly elsewhere: boolean;
}

export const outOfReach = (): DecisionReason => ({
  rule: 'reach',
  allowed: false,
  text: t('there is no such place, or it is out of reach from here'),
});

/** Resolves the place of a request that takes effect elsewhere, or of an agent that acts under an identity; or the reason why there is none. */
export function createPlaceResolver({ identities, client }: Pick<AccessDependencies, 'identities' | 'client'>) {
  /** A granted channel includes its threads, a granted category its channels. */
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
    // Checked before the place: the refusal of a tool that is granted nowhere must not reveal which places exist.
    if (grants.length > 0 && (kind !== 'tool' || !grants.some(has(name)))) return notGranted(name);
    const grant = grants.find(({ guildId }) => guildId === place.guildId);
    if (grant === undefined) return at === undefined ? notLetIn() : outOfReach();
    const objection = await identities.standing(identity, place.guildId);
    if (objection !== undefined) return ofIdentity(objection);
    if (place.guildId === actor.guildId && actor.userId !== grant.userId) return notLetIn();
    if (at !== undefined) return within(grant, name, actor, at);
    return has(name)(grant) ? resolve(grant.userId, place, false) : notGranted(name);
  };

  const within = (grant: IdentityGrant, name: string, actor: Actor, at: Place): ResolvedPlace | DecisionReason => {
    if (has(name)(grant) && reaches(grant, at)) return resolve(grant.userId, at, true);
    // The identity is in this place, so the refusal may reveal that the place exists.
    return isSamePlace(actor, at) ? notLetInHere() : outOfReach();
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
      return isWithin(actor, at) ? resolve(actor.userId, at, true) : outOfReach();
    },
    /** The subject as which an actor sees a place, for any purpose; `undefined` when it is out of reach. */
    async visiblePlace(actor: Actor, at: Place): Promise<ResolvedPlace | undefined> {
      if (actor.identity === undefined) return isWithin(actor, at) ? resolve(actor.userId, at, true) : undefined;
      if ((await identities.standing(actor.identity, at.guildId)) !== undefined) return undefined;
      const grant = await grantFor(actor.identity, at.guildId);
      return grant !== undefined && reaches(grant, at) ? resolve(grant.userId, at, true) : undefined;
    },
    /** The users who have granted an identity access: decisions about it depend on their memberships. */
    async usersBehind(identity: string): Promise<readonly string[]> {
      return ((await identities.get(identity))?.grants ?? []).map((grant) => grant.userId);
    },
    /** The actor in the guild in which a call takes effect: an identity acts for the user who granted it access there. */
    async actorAt(actor: Actor, at: Place): Promise<Actor> {
      if (actor.identity === undefined || at.guildId === actor.guildId) return actor;
      const grant = await grantFor(actor.identity, at.guildId);
      if (grant === undefined) return actor;
      const { userId, guildId, channelId } = grant;
      return { userId, guildId, channelId, identity: actor.identity };
    },
    /** The grant for one tool; `undefined` for a person, and when nothing was granted. */
    async modeOf({ identity, guildId }: Actor, tool: string) {
      if (identity === undefined) return undefined;
      const tools = (await grantFor(identity, guildId))?.tools ?? {};
      return Object.hasOwn(tools, tool) ? tools[tool] : undefined;
    },
  };
}

const ofIdentity = (text: string): DecisionReason => ({ rule: 'identity', allowed: false, text });

const notLetIn = () => ofIdentity(t('this agent has not been let in here, or not any more'));

const notLetInHere = () => ofIdentity(t('this agent has not been let into the channel in which it would act'));

const has =
  (tool: string) =>
  ({ tools }: IdentityGrant) =>
    Object.hasOwn(tools, tool);

const notGranted = (tool: string) => ofIdentity(t('"{tool}" has not been granted to this agent', { tool }));

/** A guild's places are not reachable from another guild. A direct message is reachable only by its member, who can reach their own guilds from it. */
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
