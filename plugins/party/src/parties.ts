import {
  Access,
  type Actor,
  type Collections,
  type Document,
  homeChannelOf,
  Llm,
  optional,
  type PersonalData,
  type PluginContext,
  TIERS,
  UserError,
  z,
} from '@cinnabar/sdk';
import { type Character, findCharacter, type Party, partySchema, shown } from './characters.js';

export const settings = {
  guild: z.object({
    owner: z
      .enum(['user', 'channel', 'guild'])
      .default('user')
      .describe('Whose the party is: each member has one, or each channel, or the whole guild'),
    sharedChanges: z
      .enum(['own', 'all'])
      .default('own')
      .describe(
        'In a party of a channel or of the guild: whether members may change and remove only the characters that they have added, or all; moderators always may all',
      ),
  }),
};

export const collections = {
  userParties: { scope: 'user', schema: partySchema, version: 1 },
  channelParties: { scope: 'channel', schema: partySchema, version: 1 },
  guildParties: { scope: 'guild', schema: partySchema, version: 1 },
} as const;

/** The party of an actor in a channel, and what to call it. */
interface OwnedParty {
  readonly document: Document<Party>;
  /** "your party", "this channel's party" */
  readonly phrase: string;
  /** Whether several members share it. */
  readonly isShared: boolean;
  /** @throws UserError when another member has added the character, and the guild leaves it to them */
  assertMayChange(name: string): Promise<void>;
}
type Owner = 'user' | 'channel' | 'guild';
export type PartyOf = (actor: Actor) => Promise<OwnedParty>;

export const inject = { access: Access, llm: optional(Llm) };

type PartyContext = PluginContext<typeof settings, typeof collections, typeof inject>;

/** In a direct message it is always the user's own. The threads of a channel have the channel's party. */
export function createPartyOf({ client, settings, collections: stored, services }: PartyContext): PartyOf {
  const placeOf = async ({ guildId, channelId, userId }: Actor, owner: Owner) => {
    if (guildId !== null && owner === 'guild') {
      return { document: stored.guildParties.of(guildId), phrase: "this server's party", isShared: true };
    }
    if (guildId !== null && owner === 'channel') {
      const homeId = await homeChannelOf(client, channelId);
      return { document: stored.channelParties.of(homeId), phrase: "this channel's party", isShared: true };
    }
    return { document: stored.userParties.of(userId), phrase: 'your party', isShared: false };
  };
  return async (actor) => {
    const rules = actor.guildId === null ? undefined : await settings.guild(actor.guildId).get();
    const place = await placeOf(actor, rules?.owner ?? 'user');
    return {
      ...place,
      async assertMayChange(name) {
        if (!place.isShared || rules?.sharedChanges === 'all') return;
        const present = findCharacter((await place.document.get()).members, name);
        const addedBy = present?.addedBy;
        if (present === undefined || addedBy === undefined || addedBy === actor.userId) return;
        if (TIERS.indexOf(await services.access.tierOf(actor)) >= TIERS.indexOf('mod')) return;
        throw new UserError(
          `<@${addedBy}> has added ${shown(present.name)} to ${place.phrase}: only they or a moderator can change that.`,
        );
      },
    };
  };
}

/** Characters of shared parties by the member who added them, for `personalData`. */
export function sharedCharacters({ channelParties, guildParties }: Collections<typeof collections>): PersonalData {
  const all = [channelParties, guildParties];
  return {
    async export(userId) {
      const found: Character[] = [];
      for (const parties of all) {
        for await (const [, { members }] of parties.entries())
          found.push(...members.filter(({ addedBy }) => addedBy === userId));
      }
      return { characters: found };
    },
    /** The characters stay: others play with them. */
    async forget(userId) {
      for (const parties of all) {
        for await (const [id, { members }] of parties.entries()) {
          if (!members.some(({ addedBy }) => addedBy === userId)) continue;
          await parties.of(id).update((party) => {
            party.members = party.members.map(({ addedBy, ...member }) =>
              addedBy === undefined || addedBy === userId ? member : { ...member, addedBy },
            );
          });
        }
      }
    },
  };
}
