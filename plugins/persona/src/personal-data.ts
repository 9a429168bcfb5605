import { findPlace, type PersonalData } from '@cinnabar/sdk';
import type { PersonaContext } from './context.js';
import { changeText, type PersonaCollections } from './state/persona-store.js';
import { dropFreeTexts, dropItems, type Item, type StoredPersona } from './state/state.js';

/** All data about one member: their messages, memories about them, the runs that they took part in, their changes. */
export function personalData(
  collections: PersonaCollections,
  { conversations, traces, memories, client, provenance }: PersonaContext,
): PersonalData {
  const mayReadFor =
    (userId: string): MayRead =>
    async ({ guildId, channelId, messageId }) => {
      const messages = messageId == null ? {} : { messageIds: [messageId] };
      const place =
        channelId === undefined || guildId !== undefined
          ? { guildId: guildId ?? null, ...(channelId === undefined ? {} : { channelId }) }
          : await findPlace(client, channelId);
      return provenance.mayHave([{ ...place, ...messages }], userId);
    };
  return {
    export: async (userId) => ({
      conversations: await conversations.export(userId),
      memories: await memories.personalData.export(userId, mayReadFor(userId)),
      personas: await exportFromStates(collections, userId, mayReadFor(userId)),
      traces: await traces.export(userId, mayReadFor(userId)),
    }),
    async forget(userId) {
      await memories.personalData.forget(userId);
      await conversations.forget(userId);
      await traces.forget(userId);
      await forgetInStates(collections, userId);
    },
  };
}

/** Whether a member may still read the source of a text. Being its author is not enough: the persona may have included other people's messages. */
export type MayRead = (from: {
  readonly guildId?: string;
  readonly channelId?: string;
  readonly messageId?: string | null;
}) => Promise<boolean>;

/** Replaces a text whose source the member may no longer read. */
const WITHHELD = null;

/** The parts of a persona's state that came from one member: goals and desires, and their changes. */
async function exportFromStates(collections: PersonaCollections, userId: string, mayRead: MayRead): Promise<unknown> {
  const found: Record<string, unknown> = {};
  const readableItems = (items: readonly Item[]) =>
    Promise.all(
      items
        .filter((item) => item.userId === userId)
        // Without an origin it was set by command or card, in the member's own words.
        .map(async ({ text, origin }) => (origin === null || (await mayRead(origin)) ? text : WITHHELD)),
    );
  const homes = [
    { collection: collections.guildPersonas, at: (guildId: string) => ({ guildId }) },
    { collection: collections.channelPersonas, at: (channelId: string) => ({ channelId }) },
  ];
  for (const { collection, at: placeOf } of homes) {
    for await (const [id, { state, history }] of collection.entries()) {
      const revisions = history.filter((revision) => revision.userId === userId);
      const changes = revisions.map(async ({ at, what, changedIn }) => ({
        at,
        what: (await mayRead(changedIn === null ? placeOf(id) : { channelId: changedIn }))
          ? what.map(changeText)
          : WITHHELD,
      }));
      const theirs = {
        goals: await readableItems(state.goals),
        desires: await readableItems(state.desires),
        changes: await Promise.all(changes),
      };
      if (Object.values(theirs).some((list) => list.length > 0)) found[id] = theirs;
    }
  }
  return found;
}

/** Removes goals, desires, mood and other free texts that the member's messages led to. Other changes stay but cannot be undone any more. */
async function forgetInStates(collections: PersonaCollections, userId: string): Promise<void> {
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
