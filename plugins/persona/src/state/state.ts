import { t, UserError, z } from '@cinnabar/sdk/worker';
import type { Author } from './persona-store.js';

/** Maximum lengths of stored texts; longer ones are cut. */
export const LIMITS = { name: 40, short: 400, description: 6_000, profile: 8_000, items: 20, mood: 60 } as const;

const origin = z.object({
  channelId: z.string(),
  /** When the message is deleted or edited, everything that came from it is removed. */
  messageId: z.string().nullable(),
  /** Not all members may read the channel; the text may be used in that channel only. */
  isPrivate: z.boolean(),
});
/** The message and channel from which a persona took something. */
export type Origin = z.output<typeof origin>;

/** A goal or desire, with the user whose message led to it. */
const item = z.object({
  text: z.string(),
  userId: z.string().nullable(),
  /** `null`: set by a command or card. */
  origin: origin.nullable().default(null),
});
export type Item = z.output<typeof item>;

/** The profile that the author of the persona wrote, as in character cards. */
const profile = z.object({
  personality: z.string(),
  scenario: z.string(),
  greeting: z.string(),
  examples: z.string(),
  /** `system_prompt` and `post_history_instructions` of a card: wishes of its author, which do not override the host's rules. */
  instructions: z.string(),
  closing: z.string(),
});

const mood = z.object({
  name: z.string(),
  intensity: z.number(),
  /** When it was set, in ms since the epoch. Without a time it does not fade. */
  at: z.number().exactOptional(),
});

/** Texts of a persona about itself that it changes. */
const FREE_TEXTS = ['mood', 'appearance', 'environment'] as const;
type FreeText = (typeof FREE_TEXTS)[number];

const shape = z.object({
  /** Empty: the bot's own name. */
  name: z.string(),
  description: z.string(),
  mood,
  appearance: z.string(),
  environment: z.string(),
  goals: z.array(item),
  desires: z.array(item),
  profile,
  /** The id of the imported card; empty for a persona that was created here. */
  card: z.string(),
  /** By channel: free texts that came from a private conversation and apply in that channel only. */
  apart: z
    .record(
      z.string(),
      z.object({
        mood: mood.exactOptional(),
        appearance: z.string().exactOptional(),
        environment: z.string().exactOptional(),
        /** The users whose messages led to these texts, and the messages. */
        userIds: z.array(z.string()),
        messageIds: z.array(z.string()),
      }),
    )
    .optional(),
  /** For each free text that applies everywhere: the user whose message led to it, the message, and the channel unless it was a command. */
  origins: z
    .partialRecord(
      z.enum(FREE_TEXTS),
      z.object({
        userId: z.string().nullable(),
        messageId: z.string().nullable(),
        channelId: z.string().exactOptional(),
      }),
    )
    .optional(),
});
export type State = z.output<typeof shape>;
export type StateKey = keyof State;

export const NEW_STATE: State = {
  name: '',
  description: 'A friendly regular of this place who listens well and says what it thinks.',
  mood: { name: 'calm', intensity: 3 },
  appearance: '',
  environment: '',
  goals: [],
  desires: [],
  profile: { personality: '', scenario: '', greeting: '', examples: '', instructions: '', closing: '' },
  card: '',
};

const memoryChange = z.object({ id: z.string(), channelId: z.string(), kind: z.enum(['added', 'setAside']) });
export type MemoryChange = z.output<typeof memoryChange>;

const reset = z.object({
  /** The results of `putAside` for each conversation. */
  conversations: z.array(z.object({ channelId: z.string(), clearedAt: z.number() })).default([]),
  /** The result of `setAsideAll` of the memories. */
  memoriesAt: z.number().optional(),
});
export type Reset = z.input<typeof reset>;

const revision = z.object({
  at: z.number(),
  /** One undo reverts all changes of a session. */
  sessionId: z.string(),
  /** The member who gave the command or whom the persona answered; `null` without one. */
  userId: z.string().nullable(),
  /** The only channel in which the change may be shown; `null`: every channel. */
  channelId: z.string().nullable().default(null),
  /** The channel of the change; `null` for changes from before this was stored. */
  changedIn: z.string().nullable().default(null),
  /** In English, of a kind that `changeText` can translate: "mood: glad (6)". */
  what: z.array(z.string()),
  /** The values of the changed parts before. */
  before: shape.partial(),
  memories: z.array(memoryChange),
  /** The data that a reset put aside. */
  reset: reset.optional(),
});
export type Revision = z.output<typeof revision>;

export const storedPersona = z.object({
  version: z.number().default(0),
  state: shape.default(NEW_STATE),
  /** Oldest first. */
  history: z.array(revision).default([]),
});
export type StoredPersona = z.output<typeof storedPersona>;

/** Invisible control and format characters, except line feeds and tabs. */
const HIDDEN = /(?![\n\t\u200D])[\p{Cc}\p{Cf}\p{Cs}\p{Co}]/gu;

/** Cleans a text of a model or a person for storage: removes invisible characters and outer white space, and cuts it. */
export function tidy(text: string, most: number): string {
  return text.replaceAll('\r\n', '\n').replace(HIDDEN, '').trim().slice(0, most).trim();
}

/** A text that is not empty after `tidy`. */
export function tidyText(most: number) {
  return z
    .string()
    .transform((text) => tidy(text, most))
    .pipe(z.string().min(1));
}

export type Wish = 'goal' | 'desire';

/** @throws UserError for an existing goal or desire, or when there are too many */
export function addItem(items: Item[], given: Given, what: Wish): void {
  const { text, userId, at, origin = null } = given;
  if (visibleTo(items, at).some((item) => sameText(item.text, text)))
    throw new UserError(t('That is a {what, select, goal {goal} other {desire}} already.', { what }));
  // Items from private conversations elsewhere are not counted, because that would reveal them.
  if (visibleTo(items, at).length >= LIMITS.items) {
    throw new UserError(
      t(
        'There are {most} {what, select, goal {goals} other {desires}} already: one has to go before another is added.',
        { most: LIMITS.items, what },
      ),
    );
  }
  items.push({ text: text.slice(0, LIMITS.short), userId, origin });
}

interface Given {
  readonly text: string;
  readonly userId: string | null;
  readonly at: Audience;
  readonly origin?: Origin;
}

/** The readers of a channel to whom a state is shown. */
export interface Audience {
  readonly channelId: string;
  /** Whether everyone who reads here may read that channel now. */
  isOpen(channelId: string): boolean;
}

/** The items that the audience may know; those from another channel only while everyone here may read it. */
export function visibleTo(items: readonly Item[], { channelId, isOpen }: Audience): readonly Item[] {
  return items.filter(
    ({ origin }) =>
      origin === null || origin.channelId === channelId || (!origin.isPrivate && isOpen(origin.channelId)),
  );
}

/** Removes and returns the item with that text or number (from 1) among those visible in the channel. @throws UserError without one */
export function removeItem(items: Item[], named: string, at: Audience, what: Wish): string {
  const told = visibleTo(items, at);
  const item = told[indexOf(told, named.trim())];
  if (item === undefined)
    throw new UserError(t('There is no such {what, select, goal {goal} other {desire}}.', { what }));
  items.splice(items.indexOf(item), 1);
  return item.text;
}

function indexOf(items: readonly Item[], named: string): number {
  const exact = items.findIndex(({ text }) => sameText(text, named));
  if (exact >= 0) return exact;
  if (/^\d{1,3}$/.test(named)) return items[Number(named) - 1] === undefined ? -1 : Number(named) - 1;
  const wanted = plain(named);
  return wanted === '' ? -1 : items.findIndex(({ text }) => plain(text).includes(wanted));
}

function sameText(a: string, b: string): boolean {
  return plain(a) === plain(b);
}

function plain(text: string): string {
  return text
    .toLowerCase()
    .replace(/[^\p{L}\p{N}]+/gu, ' ')
    .trim();
}

type Lists = Pick<Revision['before'], 'goals' | 'desires'>;

/** Number of characters of a text by which the history's entries about it are found. */
const TOLD = 150;

/** All stored goals and desires, in the state and in its history. */
export function itemsIn({ state, history }: StoredPersona): readonly Item[] {
  return [state, ...history.map(({ before }) => before)].flatMap(({ goals = [], desires = [] }: Lists) => [
    ...goals,
    ...desires,
  ]);
}

/** Deletes items from the state, from its history, and from the history's descriptions. */
export function dropItems(draft: StoredPersona, isGone: (item: Item) => boolean): void {
  const texts = itemsIn(draft)
    .filter(isGone)
    .map(({ text }) => text.slice(0, TOLD));
  const strip = (lists: Lists) => {
    if (lists.goals !== undefined) lists.goals = lists.goals.filter((item) => !isGone(item));
    if (lists.desires !== undefined) lists.desires = lists.desires.filter((item) => !isGone(item));
  };
  strip(draft.state);
  for (const revision of draft.history) {
    strip(revision.before);
    revision.what = revision.what.filter((what) => !texts.some((text) => what.includes(text)));
  }
}

/** The state as it applies in one channel, without free texts from channels that not all readers here may read. */
export function stateIn(state: State, { channelId, isOpen }: Audience): State {
  const {
    userIds: _users,
    messageIds: _messages,
    ...texts
  } = state.apart?.[channelId] ?? { userIds: [], messageIds: [] };
  const told = { ...state };
  for (const key of FREE_TEXTS) {
    const from = state.origins?.[key]?.channelId;
    if (from !== undefined && from !== channelId && !isOpen(from)) copy(key, NEW_STATE, told);
  }
  return { ...told, ...texts };
}

/**
 * Changes a state as it applies in a channel. Changed free texts from a private conversation are stored for that channel only; all other changes apply
 * everywhere.
 */
export function changeIn(
  state: State,
  at: Audience,
  author: Author,
  keepApart: boolean,
  change: (draft: State) => void,
): void {
  const { channelId } = at;
  const before = stateIn(state, at);
  const draft = structuredClone(before);
  change(draft);
  const changed = FREE_TEXTS.filter((key) => JSON.stringify(draft[key]) !== JSON.stringify(before[key]));
  const apart = { ...state.apart };
  const origins = { ...state.origins };
  const own = apart[channelId] ?? { userIds: [], messageIds: [] };
  const { userId, messageId = null } = author;
  const isApart = keepApart && author.channelId !== null;
  for (const key of FREE_TEXTS) if (!changed.includes(key)) copy(key, state, draft);
  if (isApart && changed.length > 0) {
    for (const key of changed) {
      copy(key, draft, own);
      copy(key, state, draft);
    }
    own.userIds = [...new Set([...own.userIds, ...(userId === null ? [] : [userId])])];
    own.messageIds = [...own.messageIds, ...(messageId === null ? [] : [messageId])].slice(-MOST_MESSAGES);
    apart[channelId] = own;
  } else {
    for (const key of changed) {
      delete own[key];
      origins[key] = originOf(author, channelId);
    }
    if (FREE_TEXTS.some((key) => own[key] !== undefined)) apart[channelId] = own;
    else delete apart[channelId];
  }
  Object.assign(state, draft, { apart, origins });
}

/** The origin of a changed text. A command has no message and no channel as its origin, so its values apply everywhere. */
function originOf({ userId, messageId }: Author, channelId: string) {
  return { userId, messageId: messageId ?? null, ...(messageId === undefined ? {} : { channelId }) };
}

const MOST_MESSAGES = 50;

function copy(key: FreeText, from: Partial<Pick<State, FreeText>>, to: Partial<Pick<State, FreeText>>): void {
  if (key === 'mood') {
    if (from.mood !== undefined) to.mood = from.mood;
  } else if (from[key] !== undefined) to[key] = from[key];
}

interface TextOrigin {
  readonly userId: string | null;
  readonly messageId: string | null;
}

/** Whether the state or its history contains a free text with such an origin. */
export function hasFreeTexts({ state, history }: StoredPersona, isGone: (origin: TextOrigin) => boolean): boolean {
  return [state, ...history.map(({ before }) => before)].some(
    ({ apart = {}, origins = {} }) =>
      Object.values(origins).some(isGone) || Object.values(apart).some((own) => originsOf(own).some(isGone)),
  );
}

/** Deletes free texts with such an origin from the state, where defaults replace them, and from its history. */
export function dropFreeTexts(draft: StoredPersona, isGone: (origin: TextOrigin) => boolean): void {
  const texts: string[] = [];
  const strip = (part: Revision['before']) => {
    for (const key of FREE_TEXTS) {
      const origin = part.origins?.[key];
      if (origin === undefined || !isGone(origin)) continue;
      texts.push(textOf(part[key]));
      delete part.origins?.[key];
      delete part[key];
    }
    for (const [channelId, own] of Object.entries(part.apart ?? {})) {
      if (!originsOf(own).some(isGone)) continue;
      for (const key of FREE_TEXTS) texts.push(textOf(own[key]));
      delete part.apart?.[channelId];
    }
  };
  const state: Revision['before'] = draft.state;
  strip(state);
  for (const revision of draft.history) strip(revision.before);
  Object.assign(draft.state, { ...NEW_STATE, ...state });
  const said = texts.filter((text) => text !== '');
  for (const revision of draft.history) {
    // An earlier state may contain the same text without an origin.
    for (const key of FREE_TEXTS) if (said.includes(textOf(revision.before[key]))) delete revision.before[key];
    revision.what = revision.what.filter((what) => !said.some((text) => what.includes(text.slice(0, TOLD))));
  }
}

function originsOf({
  userIds,
  messageIds,
}: {
  readonly userIds: readonly string[];
  readonly messageIds: readonly string[];
}) {
  return [
    ...userIds.map((userId) => ({ userId, messageId: null })),
    ...messageIds.map((messageId) => ({ userId: null, messageId })),
  ];
}

function textOf(value: State[FreeText] | undefined): string {
  return typeof value === 'object' ? value.name : (value ?? '');
}
