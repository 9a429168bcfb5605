import { UserError } from '@cinnabar/sdk';
import type { Author } from './persona-store.js';
import {
  FREE_TEXTS,
  type FreeText,
  type Item,
  LIMITS,
  NEW_STATE,
  type Origin,
  type Revision,
  type State,
  type StoredPersona,
} from './schema.js';

/** Adds a goal or desire. @throws UserError when it is there already, or there are too many */
export function addItem(items: Item[], given: Given, what: string): void {
  const { text, userId, at, origin = null } = given;
  if (visibleTo(items, at).some((item) => sameText(item.text, text))) throw new UserError(`That is a ${what} already.`);
  // What came of private talk elsewhere must not show here, not even by the room that it takes.
  if (visibleTo(items, at).length >= LIMITS.items) {
    throw new UserError(`There are ${LIMITS.items} ${what}s already: one has to go before another is added.`);
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
  /** Whether everybody who reads here may read that channel now. */
  isOpen(channelId: string): boolean;
}

/** The items that the audience may know: what came of talk elsewhere only as long as everyone here may read that channel. */
export function visibleTo(items: readonly Item[], { channelId, isOpen }: Audience): readonly Item[] {
  return items.filter(
    ({ origin }) =>
      origin === null || origin.channelId === channelId || (!origin.isPrivate && isOpen(origin.channelId)),
  );
}

/** Removes the one of that text or number (from 1) among those told in the channel, and returns it. @throws UserError when there is none */
export function removeItem(items: Item[], named: string, at: Audience, what: string): string {
  const told = visibleTo(items, at);
  const item = told[indexOf(told, named.trim())];
  if (item === undefined) throw new UserError(`There is no such ${what}.`);
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

/** The state as it holds in one channel: without free texts that came of talk where not everybody here may read any more. */
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

/** What was set by command is the same everywhere: it came of no talk. */
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
    // The state at a time when it still held, under no name of its own.
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
