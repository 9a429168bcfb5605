import { type Charge, z } from '@cinnabar/sdk';

/** The audience: everyone in the guild, the readers of one channel, or the person of one direct message. */
export type Visibility = Memory['visibility'];

/** Where a memory is added or recalled. A memory of one mind, guild or direct message is never used in another. */
export interface Place {
  /** The key of the persona's state, such as `guild` or a channel's id. Lower case letters, digits and `-`, at most 64. */
  readonly mind: string;
  /** `null` in a direct message. */
  readonly guildId: string | null;
  readonly channelId: string;
  /** Whether everyone who reads in this place may read that channel now. */
  isOpen?(channelId: string): boolean;
}

/** Enough to follow a deletion after the memory itself was removed by the limit. */
const evidence = z.object({
  id: z.string(),
  messageId: z.string().nullable(),
  channelId: z.string(),
  /** Those of speaker and subject that are members. */
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
  /** Names of subject and speaker, by which searches find the memory. */
  subjectName: z.string().nullable(),
  speakerName: z.string().nullable(),
  /** The speaker: a member's id; the bot's own for its reflections. */
  speaker: z.string(),
  /** The message that it was learned from; `null` without one. Deleting the message deletes the memory. */
  messageId: z.string().nullable(),
  channelId: z.string(),
  guildId: z.string().nullable(),
  /** When it was said, in ms since the epoch. */
  at: z.number(),
  /** From 1 (a remark) to 10 (a life event). */
  importance: z.number().min(1).max(10),
  visibility: z.enum(['guild', 'channel', 'dm']),
  /** The later memory that replaces it; it is kept as history. */
  supersededBy: z.string().nullable(),
  /** The active memory with the same words. */
  duplicateOf: z.string().nullable(),
  /** The sources of a reflection or a merged memory. When any of them is deleted, the memory is deleted as well. */
  evidence: z.array(evidence),
  /** When it was last recalled, in ms since the epoch. */
  lastAccess: z.number(),
  /** When the persona set it aside, in ms since the epoch; `null`: not. It can be restored or deleted. */
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
  /** By default the only person whom the text names, otherwise the speaker. */
  readonly subject?: string | undefined;
  readonly subjectName?: string | undefined;
  /** People present, by whose names the text may call its subject. */
  readonly people?: readonly Person[] | undefined;
  readonly messageId?: string | null | undefined;
  /** In ms since the epoch; by default now. */
  readonly at?: number | undefined;
  /** By default 3; rounded, and limited to 1-10. */
  readonly importance?: number | undefined;
  /** By default `channel`, and `dm` in a direct message. `guild` for statements where every member of the guild may read. */
  readonly visibility?: Visibility | undefined;
  /** Memories that are no longer true because of this one. Ids that may not be known in the place are ignored. */
  readonly supersedes?: readonly string[] | undefined;
}

export interface Added {
  /** `updated`: it superseded `replaced`; `known`: the same words from the same speaker; `refused`: its message has been deleted, or the text is empty. */
  readonly outcome: 'added' | 'updated' | 'known' | 'refused';
  /** The active memory. */
  readonly memory: Memory | undefined;
  readonly replaced: readonly Memory[];
}

export interface Recall {
  readonly place: Place;
  /** The text of the message or question; without it, recent and important memories are found. */
  readonly query?: string | undefined;
  /** The requesting member, whose memories are preferred if the query names no person. */
  readonly askedBy?: string | undefined;
  /** Only memories about these subjects. Without it, a person named in the query is preferred, not required. */
  readonly about?: readonly string[] | undefined;
  /** Names of those present, for interpreting the query. */
  readonly people?: readonly Person[] | undefined;
  /** By default 5, at most 50. */
  readonly limit?: number | undefined;
  /** The account that is charged for embedding the query; without it, the bot. */
  readonly charge?: Charge | undefined;
  readonly signal?: AbortSignal | undefined;
}

export interface Person {
  readonly userId: string;
  readonly names: readonly string[];
}

export interface Recalled {
  readonly memory: Memory;
  /** The product of recency, importance and relevance, each above 0 and at most 1. */
  readonly score: number;
  readonly recency: number;
  readonly importance: number;
  readonly relevance: number;
}

export interface Listing {
  readonly about?: string | undefined;
  readonly by?: string | undefined;
  /** Only memories with this speaker or subject. */
  readonly of?: string | undefined;
  /** Whether to include memories that were superseded, are duplicates, or were set aside. */
  readonly all?: boolean | undefined;
}

/** A message, with its place. */
export interface MessageRef {
  readonly guildId: string | null;
  readonly channelId: string;
  readonly messageId: string;
}

export interface Insight {
  readonly text: string;
  /** Ids of the memories that it is based on. Without one that may be known in the place, the insight is left out. */
  readonly evidence: readonly string[];
  readonly importance?: number | undefined;
  /** By default the only subject of its evidence, otherwise the mind itself. */
  readonly subject?: string | undefined;
}

export interface ReflectionState {
  /** Whether the importance of memories has added up to 150 since the last reflection. */
  readonly due: boolean;
  readonly sum: number;
  /** The memories to reflect on, newest last. */
  readonly evidence: readonly Memory[];
}

/** Turns texts into vectors of one length, in their order; `undefined` when no provider supports it. */
export type Embed = (
  texts: readonly string[],
  charge: Charge,
  signal?: AbortSignal,
) => Promise<readonly (readonly number[])[] | undefined>;

/** Whether a subject is a member and not a topic. */
export const isMember = (subject: string): boolean => /^\d{1,20}$/.test(subject);

type Told = Pick<Memory, 'visibility' | 'channelId'>;

/**
 * Whether a memory of the place's own file may be used there; other personas, guilds and direct messages have other files. A memory that everyone could read
 * when it was said may be used elsewhere only while every reader there can still read its channel.
 */
export function isVisible({ visibility, channelId }: Told, place: Pick<Place, 'channelId' | 'isOpen'>): boolean {
  return channelId === place.channelId || (visibility === 'guild' && place.isOpen?.(channelId) !== false);
}

/** Whether the audience of one includes that of the other. */
export function covers(one: Told, other: Told): boolean {
  return one.visibility === 'guild' || (other.visibility !== 'guild' && one.channelId === other.channelId);
}

export const sameAudience = (one: Told, other: Told): boolean => covers(one, other) && covers(other, one);

/** The widest audience that may know all of them; `undefined` without any. */
export function commonAudience(all: readonly Told[]): Told | undefined {
  const narrow = all.filter(({ visibility }) => visibility !== 'guild');
  const [first, ...others] = narrow;
  if (first === undefined) return all[0];
  return others.every((other) => other.channelId === first.channelId) ? first : undefined;
}

/** The visibility of a new memory: `dm` in direct messages only. */
export function visibilityAt(place: Place, wanted: Visibility | undefined): Visibility {
  if (place.guildId === null) return 'dm';
  return wanted === 'guild' ? 'guild' : 'channel';
}
