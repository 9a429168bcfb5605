import { type Collection, type Document, type PersonaPlace, type Random, t, translated, z } from '@cinnabar/sdk';
import type { PersonaContext } from '../context.js';
import type { Place as MemoryPlace } from '../memory/types.js';
import {
  type Audience,
  changeIn,
  dropFreeTexts,
  dropItems,
  hasFreeTexts,
  type Item,
  itemsIn,
  type MemoryChange,
  NEW_STATE,
  type Reset,
  type Revision,
  type State,
  type StateKey,
  type StoredPersona,
  stateIn,
  storedPersona,
} from './state.js';

/** To be declared among the plugin's collections. */
export const personaCollections = {
  guildPersonas: { scope: 'guild', version: 1, schema: storedPersona, personal: 'handled' },
  channelPersonas: { scope: 'channel', version: 1, schema: storedPersona, personal: 'handled' },
} as const;

export interface PersonaCollections {
  readonly guildPersonas: Collection<StoredPersona, 'guild'>;
  readonly channelPersonas: Collection<StoredPersona, 'channel'>;
}

/** The author of a change, and its session. */
export interface Author {
  /** One undo reverts all changes of a session. */
  readonly sessionId: string;
  readonly userId: string | null;
  /** The only channel in which the change may be shown; `null`: every channel. */
  readonly channelId: string | null;
  /** The message that led to the change; `undefined` for a command. */
  readonly messageId?: string | null;
}

interface Home {
  readonly kind: 'guild' | 'channel';
  readonly id: string;
}

export type PersonaStore = ReturnType<typeof createPersonaStore>;

const CONVERSATION = 'reset: what was said';
const MEMORIES = 'reset: all memories';
const AS_NEW = 'everything as new';
const RESETS: readonly string[] = [CONVERSATION, MEMORIES, AS_NEW];
const MAX_REVISIONS = 25;
const MAX_ENTRIES = 40;
const MAX_LENGTH = 200;

type Services = Pick<PersonaContext, 'client' | 'clock' | 'conversations' | 'memories' | 'provenance' | 'settingsFor'>;

/** The state of personas, with a history of its changes. */
export function createPersonaStore(
  collections: PersonaCollections,
  { client, clock, conversations, memories, provenance, settingsFor }: Services,
) {
  /** Where the persona of a place is stored: the guild, or a channel. A thread uses its parent's. */
  const home = async ({ guildId, channelId }: PersonaPlace): Promise<Home> => {
    if (guildId !== null && (await settingsFor(guildId)).scope === 'guild') return { kind: 'guild', id: guildId };
    const channel = client.channels.cache.get(channelId);
    return { kind: 'channel', id: (channel?.isThread() === true ? channel.parentId : null) ?? channelId };
  };
  const documentOf = async (place: PersonaPlace): Promise<Document<StoredPersona>> => {
    const { kind, id } = await home(place);
    return kind === 'guild' ? collections.guildPersonas.of(id) : collections.channelPersonas.of(id);
  };
  /** The audience of a place, which decides which parts of the state may be used there. */
  const audienceAt = (place: PersonaPlace): PersonaPlace & Audience => ({
    ...place,
    isOpen: (channelId) => provenance.mayTell([{ guildId: place.guildId, channelId, messageIds: [] }], place),
  });
  /** The place of the persona's memories. */
  const memoryPlace = async (place: PersonaPlace): Promise<MemoryPlace> => {
    const { kind, id } = await home(place);
    return { ...audienceAt(place), mind: kind === 'guild' ? 'guild' : id };
  };

  const revise = async (
    place: PersonaPlace,
    author: Author,
    what: string,
    apply: (draft: StoredPersona, revision: Revision) => void,
  ) =>
    (await documentOf(place)).update((draft) => {
      draft.state.apart ??= {};
      draft.state.origins ??= {};
      const before = structuredClone(draft.state);
      const revision = openRevision(draft, author, place.channelId, clock.now());
      apply(draft, revision);
      for (const key of changedKeys(before, draft.state)) keepOld(revision, before, key);
      if (what !== '') revision.what = [...revision.what, what.slice(0, MAX_LENGTH)].slice(-MAX_ENTRIES);
      draft.version += 1;
    });

  /** Reverts the changes of a revision to memories and conversations. Resolves with descriptions for people. */
  const undoMemories = async (place: PersonaPlace, latest: Revision | undefined): Promise<readonly string[]> => {
    const what: string[] = [];
    // Before the state's revision is removed: after a crash in between, the undo can be repeated without harm.
    for (const { id, channelId, kind } of latest?.memories.toReversed() ?? []) {
      const there = await memoryPlace({ ...place, channelId });
      // The text only where it may be known; nothing if it was deleted meanwhile.
      const memory = await memories.find(await memoryPlace(place), id);
      const done = await (kind === 'added' ? memories.retract(there, id) : memories.restore(there, id));
      if (Number(done) > 0) {
        const text = memory?.text ?? t('something of another channel');
        what.push(kind === 'added' ? t('remembered: {text}', { text }) : t('forgot: {text}', { text }));
      }
    }
    const { conversations: cleared = [], memoriesAt } = latest?.reset ?? {};
    for (const { channelId, clearedAt } of cleared) await conversations.bringBack(channelId, clearedAt);
    if (memoriesAt !== undefined) await memories.restoreAll(await memoryPlace(place), memoriesAt);
    return what;
  };

  return {
    home,
    /** The persona's state as it applies in the place. */
    async read(place: PersonaPlace): Promise<StoredPersona> {
      const stored = await (await documentOf(place)).get();
      const { moodHours } = await settingsFor(place.guildId);
      return { ...stored, state: faded(stateIn(stored.state, audienceAt(place)), moodHours, clock.now()) };
    },
    audienceAt,
    memoryPlace,
    /** Changes the state; stored when it resolves. Stores nothing when `change` throws. @param what the change in words: "mood: glad (6)" */
    async change(
      place: PersonaPlace,
      author: Author,
      what: string,
      change: (draft: State, at: Audience) => void,
    ): Promise<StoredPersona> {
      const { keepPrivate } = await settingsFor(place.guildId);
      const stored = await revise(place, author, what, ({ state }) =>
        changeIn(state, audienceAt(place), author, keepPrivate, (draft) => {
          const { mood } = draft;
          change(draft, audienceAt(place));
          if (draft.mood !== mood) draft.mood = { ...draft.mood, at: clock.now() };
        }),
      );
      return { ...stored, state: stateIn(stored.state, audienceAt(place)) };
    },
    /** Records a change of memories in the history, so that undo reverts it, too. */
    async note(place: PersonaPlace, author: Author, change: MemoryChange): Promise<void> {
      // The text of a memory is stored only with the memories, so that it can be deleted there.
      await revise(place, author, '', (_draft, revision) => void revision.memories.push(change));
    },
    /** Records what a reset has set aside, so that undo restores it. */
    async noteReset(
      place: PersonaPlace,
      author: Author,
      { conversations: cleared = [], memoriesAt }: Reset,
    ): Promise<void> {
      await revise(place, author, '', (_draft, revision) => {
        const before = revision.reset ?? { conversations: [] };
        revision.reset = {
          ...before,
          conversations: [...before.conversations, ...cleared],
          ...(memoriesAt === undefined ? {} : { memoriesAt }),
        };
        for (const what of memoriesAt === undefined ? [CONVERSATION] : [MEMORIES]) {
          if (!revision.what.includes(what)) revision.what.push(what);
        }
      });
    },
    /** Reverts the latest revision, including its changes of memories. Resolves with descriptions for people; `undefined` without a revision. */
    async undo(place: PersonaPlace): Promise<readonly string[] | undefined> {
      const document = await documentOf(place);
      const latest = (await document.get()).history.at(-1);
      const what = await undoMemories(place, latest);
      let isUndone = false;
      await document.update((draft) => {
        if (latest === undefined || draft.history.at(-1)?.sessionId !== latest.sessionId) return;
        Object.assign(draft.state, draft.history.pop()?.before);
        isUndone = true;
        draft.version += 1;
      });
      if (latest === undefined || !isUndone) return undefined;
      const isTold = latest.channelId === null || latest.channelId === place.channelId;
      const told = isTold
        ? latest.what.map(changeText)
        : latest.what.slice(0, 1).map(() => t('something of another channel'));
      return [...told, ...what];
    },
    /** Removes goals and desires that came from these messages, also from the undo history. */
    async forgetMessages(place: PersonaPlace, messageIds: readonly string[]): Promise<void> {
      const document = await documentOf(place);
      const stored = await document.find();
      const isGone = ({ origin }: Item) => origin?.messageId != null && messageIds.includes(origin.messageId);
      const isGoneText = ({ messageId }: { readonly messageId: string | null }) =>
        messageId !== null && messageIds.includes(messageId);
      if (stored === undefined || !(itemsIn(stored).some(isGone) || hasFreeTexts(stored, isGoneText))) return;
      await document.update((draft) => {
        dropItems(draft, isGone);
        dropFreeTexts(draft, isGoneText);
      });
    },
    /** Deletes the persona and its history. */
    wipe: async (place: PersonaPlace): Promise<void> => (await documentOf(place)).delete(),
    /** Sets the state of a new persona; undo restores the old one. */
    async reset(place: PersonaPlace, author: Author): Promise<void> {
      await revise(place, author, AS_NEW, (draft) => {
        draft.state = structuredClone(NEW_STATE);
      });
    },
  };
}

/** The kinds of changes, which are the words before the colon in the history. */
const KINDS: ReadonlySet<string> = new Set([
  'created',
  'imported',
  'edited',
  'name',
  'description',
  'personality',
  'mood',
  'appearance',
  'environment',
  'new goal',
  'add goal',
  'remove goal',
  'goal completed',
  'goal abandoned',
  'new desire',
  'add desire',
  'remove desire',
  'desire satisfied',
  'desire abandoned',
]);

/** A change of the history, which is stored in English, in the current language. Set values stay as they were written. */
export function changeText(what: string): string {
  if (RESETS.includes(what)) return translated(what);
  const [, kind = '', text = ''] = /^([a-z ]+): (.*)$/s.exec(what) ?? [];
  if (!KINDS.has(kind)) return what;
  const fields =
    kind === 'edited' ? text.split(', ').map((field) => (KINDS.has(field) ? translated(field) : field)) : [text];
  return `${translated(kind)}: ${fields.join(', ')}`;
}

const HOUR_MS = 3_600_000;
const LEAST_INTENSITY = 1;

/** A mood weakens over the hours, and finally becomes the default mood. */
function faded(state: State, halfLifeHours: number, now: number): State {
  const { name, intensity, at } = state.mood;
  if (at === undefined || halfLifeHours === 0 || name === NEW_STATE.mood.name) return state;
  const left = intensity * 0.5 ** (Math.max(0, now - at) / (halfLifeHours * HOUR_MS));
  const mood = left < LEAST_INTENSITY ? NEW_STATE.mood : { name, intensity: Math.round(left), at };
  return { ...state, mood };
}

/** The revision of the author's session, or a new one. */
function openRevision(draft: StoredPersona, author: Author, changedIn: string, at: number): Revision {
  const { sessionId, userId, channelId } = author;
  const latest = draft.history.at(-1);
  if (latest?.sessionId === sessionId) return latest;
  const revision: Revision = { at, sessionId, userId, channelId, changedIn, what: [], before: {}, memories: [] };
  draft.history = [...draft.history, revision].slice(-MAX_REVISIONS);
  return revision;
}

function changedKeys(before: State, after: State): readonly StateKey[] {
  const keys: readonly StateKey[] = [
    'name',
    'description',
    'mood',
    'appearance',
    'environment',
    'goals',
    'desires',
    'profile',
    'card',
    'apart',
    'origins',
  ];
  return keys.filter((key) => JSON.stringify(before[key]) !== JSON.stringify(after[key]));
}

/** Stores the value before the first change of the session. */
function keepOld<K extends StateKey>(revision: Revision, before: State, key: K): void {
  if (revision.before[key] === undefined) Object.assign(revision.before, { [key]: before[key] });
}

const kept = z.object({ cards: z.array(z.object({ id: z.string(), rest: z.string() })).default([]) });
type Kept = z.output<typeof kept>;

/** Additional data of imported cards. To be declared among the plugin's collections. */
export const cardCollections = {
  guildCards: { scope: 'guild', version: 1, schema: kept },
  channelCards: { scope: 'channel', version: 1, schema: kept },
} as const;

interface CardCollections {
  readonly guildCards: Collection<Kept, 'guild'>;
  readonly channelCards: Collection<Kept, 'channel'>;
}

export type CardStore = ReturnType<typeof createCardStore>;

/** Whether the data of an imported card contains a book. */
export const hasBook = (rest: string) => rest.includes('"character_book"');

/** Number of imported cards that are kept, for undoing imports. */
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
    /** The additional data of the card from which the persona of the place was imported; empty without a card. */
    async rest(place: PersonaPlace): Promise<string> {
      const { card } = (await store.read(place)).state;
      if (card === '') return '';
      const { cards } = await (await documentOf(place)).get();
      return cards.find(({ id }) => id === card)?.rest ?? '';
    },
    /** Stores additional data. Resolves with its id for the state, so that undoing an import brings back the earlier card's data. */
    async keep(place: PersonaPlace, rest: string): Promise<string> {
      const id = random.id();
      await (await documentOf(place)).update((draft) => {
        draft.cards = [...draft.cards, { id, rest }].slice(-KEPT_CARDS);
      });
      return id;
    },
  };
}
