import { type Charge, z } from '@cinnabar/sdk';

/** The audience: everyone in the guild, those in the one channel, or the person of the one direct message. */
export type Visibility = Memory['visibility'];

/** Where something is said, asked or remembered. Nothing that is remembered of one mind, guild or direct message is known in another. */
export interface Place {
  /** The key of the persona's state, such as `guild` or a channel's id. Lower case letters, digits and `-`, at most 64. */
  readonly mind: string;
  /** `null` in a direct message. */
  readonly guildId: string | null;
  readonly channelId: string;
  /** Whether everyone who reads here may read that channel now, if that is known. */
  isOpen?(channelId: string): boolean;
}

/** Enough to follow a deletion even after the memory itself was forgotten for want of room. */
const evidence = z.object({
  id: z.string(),
  messageId: z.string().nullable(),
  channelId: z.string(),
  /** Speaker and subject, where they are members. */
  people: z.array(z.string()),
});
export type Evidence = Readonly<Omit<z.output<typeof evidence>, 'people'>> & { readonly people: readonly string[] };

export const memorySchema = z.object({
  id: z.string().min(1),
  /** A statement about a person or thing, or a conclusion of the persona from several facts. */
  kind: z.enum(['fact', 'reflection']),
  text: z.string(),
  /** The subject: a member's id; or a topic in plain words, such as `pizza friday`. */
  subject: z.string(),
  /** Names by which the subject and the speaker are asked for. */
  subjectName: z.string().nullable(),
  speakerName: z.string().nullable(),
  /** The speaker: a member's id; the bot's own for its reflections. */
  speaker: z.string(),
  /** The message it was learned from; `null` for what was not said in one. When the message is deleted, so is the memory. */
  messageId: z.string().nullable(),
  channelId: z.string(),
  guildId: z.string().nullable(),
  /** When it was said, in ms since the epoch. */
  at: z.number(),
  /** 1 (a remark) to 10 (what changes a life). */
  importance: z.number().min(1).max(10),
  visibility: z.enum(['guild', 'channel', 'dm']),
  /** The later memory that took its place; kept as history. */
  supersededBy: z.string().nullable(),
  /** The memory that says the same. */
  duplicateOf: z.string().nullable(),
  /** The sources of a reflection or a merged memory. When any of them is deleted, the memory is deleted as well. */
  evidence: z.array(evidence),
  /** When it was last recalled, in ms since the epoch. */
  lastAccess: z.number(),
  /** When the persona put it out of its mind, to be restored or deleted for good; otherwise `null`. */
  setAsideAt: z.number().nullable(),
});
export type Memory = Readonly<Omit<z.output<typeof memorySchema>, 'evidence'>> & {
  readonly evidence: readonly Evidence[];
};

export interface NewMemory {
  readonly place: Place;
  readonly text: string;
  readonly speaker: string;
  readonly speakerName?: string | undefined;
  /** By default whom the text is about, as far as it tells: a person it names, otherwise the speaker. */
  readonly subject?: string | undefined;
  readonly subjectName?: string | undefined;
  /** Names of those present, by which the text may call the one it is about. */
  readonly people?: readonly Person[] | undefined;
  readonly messageId?: string | null | undefined;
  /** By default now. */
  readonly at?: number | undefined;
  /** By default 3. Whole, 1-10; what lies outside is brought inside. */
  readonly importance?: number | undefined;
  /** By default `channel`, and `dm` in a direct message. `guild` for what was said where every member of the guild may read. */
  readonly visibility?: Visibility | undefined;
  /** Memories that are no longer true because of it. Ids that the place may not see are passed over. */
  readonly supersedes?: readonly string[] | undefined;
}

export interface Added {
  /** `updated`: it took the place of `replaced`; `known`: word for word, from the same speaker; `refused`: its message has been deleted, or the text is empty. */
  readonly outcome: 'added' | 'updated' | 'known' | 'refused';
  /** The current memory. */
  readonly memory: Memory | undefined;
  readonly replaced: readonly Memory[];
}

export interface Recall {
  readonly place: Place;
  /** The text of the message or question; without it, recent and important memories are found. */
  readonly query?: string | undefined;
  /** The requesting member: their memories are preferred if the query names no one. */
  readonly askedBy?: string | undefined;
  /** Only memories about these subjects. A person named in the query is preferred, never required. */
  readonly about?: readonly string[] | undefined;
  /** Names of those present, for interpreting the query. */
  readonly people?: readonly Person[] | undefined;
  /** By default 5, at most 50. */
  readonly limit?: number | undefined;
  /** Charged when the query is embedded; without it, the bot. */
  readonly charge?: Charge | undefined;
  readonly signal?: AbortSignal | undefined;
}

export interface Person {
  readonly userId: string;
  readonly names: readonly string[];
}

export interface Recalled {
  readonly memory: Memory;
  /** The product of the three, each above 0 and at most 1. */
  readonly score: number;
  readonly recency: number;
  readonly importance: number;
  readonly relevance: number;
}

export interface Listing {
  readonly about?: string | undefined;
  readonly by?: string | undefined;
  /** Speaker or subject. */
  readonly of?: string | undefined;
  /** Whether to include memories that were superseded, are duplicates, or were set aside. */
  readonly all?: boolean | undefined;
}

/** A message, or all of a channel. */
export interface MessageRef {
  readonly guildId: string | null;
  readonly channelId: string;
  readonly messageId: string;
}

export interface Insight {
  readonly text: string;
  /** Memories it rests on; one at least that the place may see. */
  readonly evidence: readonly string[];
  readonly importance?: number | undefined;
  /** By default the one subject of all its evidence, otherwise the mind itself. */
  readonly subject?: string | undefined;
}

export interface ReflectionState {
  /** Whether importance has added up to 150 since the last reflection. */
  readonly due: boolean;
  readonly sum: number;
  /** The memories to reflect on, newest last, all with one audience. */
  readonly evidence: readonly Memory[];
}

/** Turns texts into vectors of one length, in their order; `undefined` when no provider supports it. */
export type Embed = (
  texts: readonly string[],
  charge: Charge,
  signal?: AbortSignal,
) => Promise<readonly (readonly number[])[] | undefined>;

/** Whether a subject is a member, rather than a topic. */
export const isMember = (subject: string): boolean => /^\d{1,20}$/.test(subject);

type Told = Pick<Memory, 'visibility' | 'channelId'>;

/**
 * Whether a memory of the place's own file may be used there; other personas, guilds and direct messages have other files. A memory that everyone could read
 * when it was said may be used elsewhere only while everyone there still can.
 */
export function isVisible({ visibility, channelId }: Told, place: Pick<Place, 'channelId' | 'isOpen'>): boolean {
  return channelId === place.channelId || (visibility === 'guild' && place.isOpen?.(channelId) !== false);
}

/** Whether all readers of the other are among those of the one. */
export function covers(one: Told, other: Told): boolean {
  return one.visibility === 'guild' || (other.visibility !== 'guild' && one.channelId === other.channelId);
}

export const sameAudience = (one: Told, other: Told): boolean => covers(one, other) && covers(other, one);

/** The widest audience that may know all of them; `undefined` when there is none. */
export function commonAudience(all: readonly Told[]): Told | undefined {
  const narrow = all.filter(({ visibility }) => visibility !== 'guild');
  const [first, ...others] = narrow;
  if (first === undefined) return all[0];
  return others.every((other) => other.channelId === first.channelId) ? first : undefined;
}

/** In a guild nothing is of a direct message, and the other way round. */
export function visibilityAt(place: Place, wanted: Visibility | undefined): Visibility {
  if (place.guildId === null) return 'dm';
  return wanted === 'guild' ? 'guild' : 'channel';
}
