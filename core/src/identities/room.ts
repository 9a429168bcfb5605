import { CinnabarError, type Collection, type Identities, type Identity, type PersonalData, z } from '@cinnabar/sdk';

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
  grants: z.array(grant).readonly(),
});

/** The characters of the id become part of a file's name. */
const ID = /^[a-z0-9][a-z0-9:_-]{0,99}$/;

export interface IdentityRoom extends Identities {
  /** The grants that somebody gave: they answer for them. */
  readonly personalData: PersonalData;
}

/** Identities in memory, read once, written before they hold. */
export function createIdentities(documents: Collection<z.output<typeof identitySchema>, 'global'>): IdentityRoom {
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

  const save = async (identity: Identity) => {
    const { id, plugin } = identity;
    if (!ID.test(id)) {
      const detail = 'lower case letters, digits, ":", "_" and "-", at most 100';
      throw new CinnabarError('CINNABAR_NAME_INVALID', { kind: 'identity', name: id, detail });
    }
    const known = await all();
    const taken = known.get(id);
    if (taken !== undefined && taken.plugin !== plugin) {
      throw new CinnabarError('CINNABAR_NAME_TAKEN', { kind: 'identity', name: id, plugin: taken.plugin });
    }
    const saved = await documents.of(id).set({ ...identity });
    known.set(id, saved);
  };
  const remove = async (id: string) => {
    const known = await all();
    // What cannot be deleted must not go on holding: it is gone here first.
    known.delete(id);
    await documents.of(id).delete();
  };
  const grantedBy = async (userId: string) =>
    [...(await all()).values()].filter(({ grants }) => grants.some((one) => one.userId === userId));

  return {
    get: async (id) => (await all()).get(id),
    async list(guildId) {
      return [...(await all()).values()].filter(({ grants }) => grants.some((one) => one.guildId === guildId));
    },
    save,
    remove,
    personalData: {
      export: grantedBy,
      async forget(userId) {
        for (const identity of await grantedBy(userId)) {
          await save({ ...identity, grants: identity.grants.filter((one) => one.userId !== userId) });
        }
      },
    },
  };
}
