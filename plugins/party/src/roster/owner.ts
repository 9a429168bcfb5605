import { type Actor, type Collections, type Document, homeChannelOf, type Settings, z } from '@cinnabar/sdk';
import type { Client } from 'discord.js';
import { type Party, partySchema } from './characters.js';

export const settings = {
  guild: z.object({
    owner: z
      .enum(['user', 'channel', 'guild'])
      .default('user')
      .describe('Whose the party is: each member has one, or each channel, or the whole guild'),
  }),
};

export const collections = {
  userParties: { scope: 'user', schema: partySchema, version: 1 },
  channelParties: { scope: 'channel', schema: partySchema, version: 1 },
  guildParties: { scope: 'guild', schema: partySchema, version: 1 },
} as const;

/** The party that an actor speaks of, and what to call it. */
export interface OwnedParty {
  readonly document: Document<Party>;
  /** "your party", "this channel's party" */
  readonly phrase: string;
}
export type PartyOf = (actor: Actor) => Promise<OwnedParty>;

/** In a direct message it is always the user's own. The threads of a channel have the channel's party. */
export function createPartyOf(
  client: Pick<Client, 'channels'>,
  guildSettings: Settings<typeof settings>['guild'],
  stored: Collections<typeof collections>,
): PartyOf {
  return async ({ guildId, channelId, userId }) => {
    const owner = guildId === null ? 'user' : (await guildSettings(guildId).get()).owner;
    if (guildId !== null && owner === 'guild') {
      return { document: stored.guildParties.of(guildId), phrase: "this server's party" };
    }
    if (owner === 'channel') {
      const homeId = await homeChannelOf(client, channelId);
      return { document: stored.channelParties.of(homeId), phrase: "this channel's party" };
    }
    return { document: stored.userParties.of(userId), phrase: 'your party' };
  };
}
