import type { HistoryMessage } from '../types.js';

/** One emoji under a message. */
export interface Tally {
  readonly name: string;
  /** How many others than this bot. */
  readonly others: number;
  readonly mine: boolean;
}

/** A message in the store. */
export interface Held {
  /** As windows show it. */
  readonly message: HistoryMessage;
  /** Own, with buttons or menus; or a card of another bot of this program. */
  readonly controls: boolean;
  readonly tallies: ReadonlyMap<string, Tally>;
  /** About how much memory it takes. */
  readonly bytes: number;
}

type MessageFacts = Omit<HistoryMessage, 'reactions' | 'card'>;

const NONE: readonly string[] = [];

const NO_TALLIES: ReadonlyMap<string, Tally> = new Map();

/** The objects that make up a message, measured; and what a list, a tally or an attachment adds. */
const MESSAGE_BYTES = 500;

const ITEM_BYTES = 200;

/** Of text that is not Latin-1; other text takes half of it. */
const CHARACTER_BYTES = 2;

export function hold(facts: MessageFacts, controls: boolean, tallies: ReadonlyMap<string, Tally>): Held {
  const counted = [...tallies.values()];
  const byOthers = counted.filter(({ others }) => others > 0).map(({ name }) => name);
  const asked = ['👍', '👎'].every((name) => counted.some((tally) => tally.mine && tally.name === name));
  const card = controls || (facts.author.self && asked);
  const reactions = byOthers.length === 0 ? NONE : byOthers;
  const { id, channelId, author, content, createdAt, editedAt, replyTo, attachments, extras } = facts;
  // Written out: an object made by spreading another has a hidden class of its own, which takes as much memory as the message.
  const plain = { id, channelId, author, content, createdAt, editedAt, replyTo, attachments, extras, reactions };
  const message: HistoryMessage = card ? { ...plain, card } : plain;
  const bytes = textBytes(facts, tallies.size);
  return { message, controls, tallies: tallies.size === 0 ? NO_TALLIES : tallies, bytes };
}

function textBytes({ content, extras, attachments }: MessageFacts, tallies: number): number {
  const texts = [content, ...extras, ...attachments.flatMap(({ url, name }) => [url, name])];
  const characters = texts.reduce((sum, { length }) => sum + length, 0);
  return MESSAGE_BYTES + ITEM_BYTES * (extras.length + attachments.length + tallies) + CHARACTER_BYTES * characters;
}

/** An edit: new words, the same reactions. */
export function edited(old: Held, fresh: Held): Held {
  return hold(factsOf(fresh), fresh.controls, old.tallies);
}

/** Somebody added (`by` 1) or took back (`by` -1) an emoji. */
export function reacted(held: Held, key: string, name: string, by: 1 | -1, mine: boolean): Held {
  const old = held.tallies.get(key) ?? { name, others: 0, mine: false };
  const tally = mine ? { ...old, mine: by > 0 } : { ...old, others: Math.max(0, old.others + by) };
  const tallies = new Map(held.tallies);
  if (tally.mine || tally.others > 0) tallies.set(key, tally);
  else tallies.delete(key);
  return hold(factsOf(held), held.controls, tallies);
}

/** All reactions were taken away, or all with one emoji. */
export function unreacted(held: Held, key?: string): Held {
  const left = [...held.tallies].filter(([other]) => key !== undefined && other !== key);
  return hold(factsOf(held), held.controls, new Map(left));
}

/** Whether two versions of a message look the same to a reader. */
export function isSame(a: Held, b: Held): boolean {
  return (
    a.message.editedAt === b.message.editedAt &&
    a.message.content === b.message.content &&
    a.controls === b.controls &&
    sameList(a.message.extras, b.message.extras) &&
    sameList([...a.message.reactions].sort(), [...b.message.reactions].sort()) &&
    a.message.attachments.length === b.message.attachments.length
  );
}

function sameList(a: readonly string[], b: readonly string[]): boolean {
  return a.length === b.length && a.every((item, at) => item === b[at]);
}

function factsOf({ message }: Held): MessageFacts {
  const { reactions: _reactions, card: _card, ...facts } = message;
  return facts;
}
