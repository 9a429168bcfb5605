import { type Collection, type PersonaPlace, type Random, z } from '@cinnabar/sdk';
import type { PersonaStore } from '../state/persona-store.js';

const kept = z.object({ cards: z.array(z.object({ id: z.string(), rest: z.string() })).default([]) });
type Kept = z.output<typeof kept>;

/** What imported cards held beside the character. To be declared among the plugin's collections. */
export const cardCollections = {
  guildCards: { scope: 'guild', version: 1, schema: kept },
  channelCards: { scope: 'channel', version: 1, schema: kept },
} as const;

interface CardCollections {
  readonly guildCards: Collection<Kept, 'guild'>;
  readonly channelCards: Collection<Kept, 'channel'>;
}

export type CardStore = ReturnType<typeof createCardStore>;

/** Whether what a card held has a book in it, for `lore`. */
export const hasBook = (rest: string) => rest.includes('"character_book"');

/** As far as imports are likely to be undone. */
const KEPT_CARDS = 4;

export function createCardStore(
  collections: CardCollections,
  store: Pick<PersonaStore, 'home' | 'read'>,
  random: Pick<Random, 'id'>,
) {
  const documentOf = async (place: PersonaPlace) => {
    const { kind, id } = await store.home(place);
    return kind === 'guild' ? collections.guildCards.of(id) : collections.channelCards.of(id);
  };
  return {
    /** What the card held that the persona of that place is from; empty for one that was made here. */
    async rest(place: PersonaPlace): Promise<string> {
      const { card } = (await store.read(place)).state;
      if (card === '') return '';
      const { cards } = await (await documentOf(place)).get();
      return cards.find(({ id }) => id === card)?.rest ?? '';
    },
    /** Keeps it; the id belongs into the state, so that undoing an import finds the card before. */
    async keep(place: PersonaPlace, rest: string): Promise<string> {
      const id = random.id();
      await (await documentOf(place)).update((draft) => {
        draft.cards = [...draft.cards, { id, rest }].slice(-KEPT_CARDS);
      });
      return id;
    },
  };
}
