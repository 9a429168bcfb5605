import { dropFreeTexts } from './apart.js';
import { dropItems } from './drop.js';
import type { StoredPersona } from './schema.js';
import type { PersonaCollections } from './store.js';

/** What a persona's state holds that came from one member: goals and desires, and what they changed. */
export async function exportFromStates(collections: PersonaCollections, userId: string): Promise<unknown> {
  const found: Record<string, unknown> = {};
  for (const collection of [collections.guildPersonas, collections.channelPersonas]) {
    for await (const [id, { state, history }] of collection.entries()) {
      const theirs = {
        goals: state.goals.filter((item) => item.userId === userId).map(({ text }) => text),
        desires: state.desires.filter((item) => item.userId === userId).map(({ text }) => text),
        changes: history.filter((revision) => revision.userId === userId).map(({ at, what }) => ({ at, what })),
      };
      if (Object.values(theirs).some((list) => list.length > 0)) found[id] = theirs;
    }
  }
  return found;
}

/** Takes it out: goals, desires, mood and other free texts that their words led to; other changes stay made, but cannot be undone any more. */
export async function forgetInStates(collections: PersonaCollections, userId: string): Promise<void> {
  const strip = (draft: StoredPersona) => {
    draft.history = draft.history.filter((revision) => revision.userId !== userId);
    dropItems(draft, (item) => item.userId === userId);
    dropFreeTexts(draft, (origin) => origin.userId === userId);
  };
  for (const collection of [collections.guildPersonas, collections.channelPersonas]) {
    for await (const [id, stored] of collection.entries()) {
      if (JSON.stringify(stored).includes(userId)) await collection.of(id).update(strip);
    }
  }
}
