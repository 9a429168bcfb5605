import { t, UserError, z } from '@cinnabar/sdk/worker';
import type { Author } from './persona-store.js';

/** The longest texts that are kept; longer ones are cut. */
export const LIMITS = { name: 40, short: 400, description: 6_000, profile: 8_000, items: 20, mood: 60 } as const;

const origin = z.object({
  channelId: z.string(),
  /** When it is deleted or edited, everything that came from it is removed. */
  messageId: z.string().nullable(),
  /** Not everyone may read that channel: it may be used only there. */
  isPrivate: z.boolean(),
});
/** Where a persona came by something in talk. */
export type Origin = z.output<typeof origin>;

/** A goal or desire, and whose words led to it. */
const item = z.object({
  text: z.string(),
  userId: z.string().nullable(),
  /** `null`: it was given by command or card. */
  origin: origin.nullable().default(null),
});
export type Item = z.output<typeof item>;

/** The profile that the author of the persona wrote, as in character cards. */
const profile = z.object({
  personality: z.string(),
  scenario: z.string(),
  greeting: z.string(),
  examples: z.string(),
  /** `system_prompt` and `post_history_instructions` of a card: wishes of its author, not the host's rules. */
  instructions: z.string(),
  closing: z.string(),
});

const mood = z.object({
  name: z.string(),
  intensity: z.number(),
  /** Since when it has held; what has none does not fade. */
  at: z.number().exactOptional(),
});

/** Texts of a persona about itself, which it changes over time. */
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
  /** The imported card that it is from; empty for one that was made here. */
  card: z.string(),
  /** By channel: free texts that came of a private conversation, and hold there alone. */
  apart: z
    .record(
      z.string(),
      z.object({
        mood: mood.exactOptional(),
        appearance: z.string().exactOptional(),
        environment: z.string().exactOptional(),
        /** The users whose messages led to it, and the messages. */
        userIds: z.array(z.string()),
        messageIds: z.array(z.string()),
      }),
    )
    .optional(),
  /** The user whose message led to a text that is used everywhere, the message, and the channel unless it was a command. */
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
  /** All changes of one run are undone together. */
  sessionId: z.string(),
  /** The member who changed it by command, or whose words the persona answered; `null`: no one's. */
  userId: z.string().nullable(),
  /** The only channel that may know of it; `null`: every channel. */
  channelId: z.string().nullable().default(null),
  /** Where it was changed; `null`: before this was kept. */
  changedIn: z.string().nullable().default(null),
  /** In English words, of a kind that `changeText` knows: "mood: glad (6)". */
  what: z.array(z.string()),
  /** The changed parts as they were. */
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

/** Cleans a text of a model or a person for storage: removes invisible characters and outer white space, and limits the length. */
export function tidy(text: string, most: number): string {
  return text.replaceAll('\r\n', '\n').replace(HIDDEN, '').trim().slice(0, most).trim();
}

/** A text that is not empty when it is tidy; longer ones are cut. */
export function tidyText(most: number) {
  return z
    .string()
    .transform((text) => tidy(text, most))
    .pipe(z.string().min(1));
}

export type Wish = 'goal' | 'desire';

/** Adds a goal or desire. @throws UserError when it is there already, or there are too many */
export function addItem(items: Item[], given: Given, what: Wish): void {
  const { text, userId, at, origin = null } = given;
  if (visibleTo(items, at).some((item) => sameText(item.text, text)))
    throw new UserError(t('That is a {what, select, goal {goal} other {desire}} already.', { what }));
  // Items from private conversations elsewhere must not become visible here, not even by counting towards the limit.
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

/** The readers of a channel, for whom a state is shown. */
export interface Audience {
  readonly channelId: string;
  /** Whether everyone who reads here may read that channel now. */
  isOpen(channelId: string): boolean;
}

/** The items that the audience may know: those from elsewhere only while everyone here may read that channel. */
export function visibleTo(items: readonly Item[], { channelId, isOpen }: Audience): readonly Item[] {
  return items.filter(
    ({ origin }) =>
      origin === null || origin.channelId === channelId || (!origin.isPrivate && isOpen(origin.channelId)),
  );
}

/** Removes the one of that text or number (from 1) among those told in the channel, and returns it. @throws UserError when there is none */
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

/** The history cuts what it tells. */
const TOLD = 150;

/** Goals and desires that are kept, as they are and as they were. */
export function itemsIn({ state, history }: StoredPersona): readonly Item[] {
  return [state, ...history.map(({ before }) => before)].flatMap(({ goals = [], desires = [] }: Lists) => [
    ...goals,
    ...desires,
  ]);
}

/** Deletes items for good: from the state, from what can be undone, and from the texts of the history. */
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

/** The state as it applies in one channel, without free texts from conversations that some readers here may no longer read. */
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
 * Changes a state as it holds in a channel. Free texts that came of a private conversation are kept for its channel alone; whatever else is
 * changed holds everywhere, and there, too.
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

/** Values set by a command are the same everywhere: they have no conversation as their origin. */
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

/** Whether there is a free text of such an origin, now or to be brought back. */
export function hasFreeTexts({ state, history }: StoredPersona, isGone: (origin: TextOrigin) => boolean): boolean {
  return [state, ...history.map(({ before }) => before)].some(
    ({ apart = {}, origins = {} }) =>
      Object.values(origins).some(isGone) || Object.values(apart).some((own) => originsOf(own).some(isGone)),
  );
}

/** Takes free texts of such an origin out for good: what holds becomes as new, and nothing brings it back. */
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
    // The state at an earlier time, without a separate name.
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
