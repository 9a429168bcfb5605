import { type Collection, type PersonaPlace, z } from '@cinnabar/sdk';
import type { PersonaStore } from '../state/store.js';

const kept = z.object({ rest: z.string() });
type Kept = z.output<typeof kept>;

/** What imported cards held beside the character. To be declared among the plugin's collections. */
export const cardCollections = {
  guildCards: { scope: 'guild', version: 1, schema: kept },
  channelCards: { scope: 'channel', version: 1, schema: kept },
} as const;

export interface CardCollections {
  readonly guildCards: Collection<Kept, 'guild'>;
  readonly channelCards: Collection<Kept, 'channel'>;
}

export interface CardStore {
  /** Empty when no card was imported. */
  rest(place: PersonaPlace): Promise<string>;
  keep(place: PersonaPlace, rest: string): Promise<void>;
}

export function createCardStore(collections: CardCollections, store: Pick<PersonaStore, 'home'>): CardStore {
  const documentOf = async (place: PersonaPlace) => {
    const { kind, id } = await store.home(place);
    return kind === 'guild' ? collections.guildCards.of(id) : collections.channelCards.of(id);
  };
  return {
    rest: async (place) => (await (await documentOf(place)).find())?.rest ?? '',
    async keep(place, rest) {
      await (await documentOf(place)).set({ rest });
    },
  };
}
