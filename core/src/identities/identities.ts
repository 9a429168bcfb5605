import {
  CinnabarError,
  type Collection,
  createKeyedMutex,
  type Identities,
  type Identity,
  type IdentityGrant,
  type IdentityObjection,
  type IdentityProfiles,
  type Logger,
  type PersonalData,
  z,
} from '@cinnabar/sdk';

const grant = z.object({
  guildId: z.string().nullable(),
  userId: z.string(),
  channelId: z.string(),
  channels: z.union([z.literal('all'), z.array(z.string()).readonly()]),
  tools: z.record(z.string(), z.enum(['allow', 'confirm'])),
});

/** The shape in which an identity is stored, by its id. */
export const identitySchema = z.object({
  id: z.string(),
  plugin: z.string(),
  name: z.string(),
  grants: z.array(grant).readonly().refine(isOneForEachGuild, 'there is more than one grant for a guild'),
});

/** The characters of the id become part of a file's name. */
const ID = /^[a-z0-9][a-z0-9:_-]{0,99}$/;

export interface IdentityService extends Identities {
  /** The grants that a user gave, and answers for. */
  readonly personalData: PersonalData;
}

export interface IdentityParts {
  readonly documents: Collection<z.output<typeof identitySchema>, 'global'>;
  /** Whether a plugin runs, and is switched on in the guild. */
  readonly isOn: (guildId: string | null, plugin: string) => Promise<boolean>;
  readonly log: Logger;
}

/** Identities in memory, read once, written before they hold. */
export function createIdentities({ documents, isOn, log }: IdentityParts): IdentityService {
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

  // One change of an identity at a time, in memory as on the disk: none may bring back what another one takes away.
  const changes = createKeyedMutex();

  const write = async (known: Map<string, Identity>, identity: Identity) => {
    known.set(identity.id, await documents.of(identity.id).set({ ...identity }));
  };
  const erase = async (known: Map<string, Identity>, id: string) => {
    // What cannot be deleted must not go on holding: it is gone here first.
    known.delete(id);
    await documents.of(id).delete();
  };
  // Copies: a change to a copy grants nothing.
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
        if (!(await isOn(guildId, plugin))) return `the plugin "${plugin}" is switched off here`;
        for (const check of objections.get(plugin) ?? []) {
          const objection = await check(identity, guildId);
          if (objection !== undefined) return objection;
        }
        return undefined;
      } catch (error) {
        log.error('it could not be checked whether an agent may act', { identity: id, guildId, error });
        return 'it could not be checked whether this agent may act';
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
            // Its id may name the one person whose agent it was.
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
