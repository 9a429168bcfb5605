import type { PersonalData } from '@cinnabar/sdk';
import type { Relay } from '../context.js';

/** An event in Discord that is delivered to an agent. */
export type EventKind =
  | 'mention'
  | 'reply'
  | 'dm'
  /** In a thread that the bot has started. */
  | 'thread'
  /** A message that does not address the agent, in a channel whose mode is `always`. */
  | 'message'
  /** A member reacted to a message of the agent. */
  | 'reaction'
  /** A summary of a channel whose mode is `digest`. */
  | 'digest'
  /** A planned wake-up. */
  | 'wake';

export interface AuthorFacts {
  readonly id: string;
  readonly username: string;
  readonly displayName: string;
  /** Names of the person's roles in the guild. */
  readonly roles: readonly string[];
  readonly isBot: boolean;
}

/** A message of the reply chain above the event's message. */
export interface ChainLink {
  readonly messageId: string;
  /** Stored so that the message can be removed when its author's data is deleted. */
  readonly authorId: string;
  readonly author: string;
  readonly content: string;
  /** ISO 8601. */
  readonly timestamp: string;
  readonly isBot: boolean;
}

/** The content of the prompt as it was when the event happened: plain data, stored until the agent has received it. */
export interface EventFacts {
  /** Milliseconds since the Unix epoch. */
  readonly at: number;
  readonly author: AuthorFacts | null;
  readonly channel: {
    readonly id: string;
    readonly name: string;
    readonly type: 'text' | 'dm' | 'thread' | 'voice';
  };
  readonly guild: { readonly id: string; readonly name: string } | null;
  readonly messageId: string | null;
  /** The text of the message; for a digest or a wake-up, the text for the agent. */
  readonly content: string;
  /** Additional lines after `content`, one for each author, so that an author's line can be deleted with the author's data. */
  readonly lines?: readonly { readonly authorId: string; readonly text: string }[] | undefined;
  /** Oldest first. */
  readonly chain: readonly ChainLink[];
  readonly attachments: readonly { readonly name: string; readonly url: string; readonly contentType: string | null }[];
}

/** An event for an agent, from its acceptance to the end of its delivery. */
export interface RelayEvent {
  /** Unique in the host. The id of the message, if there is one, so that a message is accepted once. */
  readonly id: string;
  readonly kind: EventKind;
  /** The agent's roster key; in a direct message, the key of the agent that answers there. */
  readonly agent: string;
  readonly guildId: string | null;
  readonly channelId: string;
  /** The member who caused the event; `null` for digests and wake-ups. */
  readonly userId: string | null;
  readonly facts: EventFacts;
}

/** Events of one channel that are delivered together, oldest first; never empty. */
export type Batch = readonly [RelayEvent, ...RelayEvent[]];

/** How a delivery ended. */
export type Delivery =
  | { readonly status: 'done'; readonly posted: boolean; readonly tokens: number; readonly steps: number }
  /** May be retried with the same idempotency key. `error` is for the log. */
  | {
      readonly status: 'failed';
      readonly retry: boolean;
      /** The delay that the server requests. */
      readonly retryAfterMs?: number;
      readonly sentence: string;
      readonly error: unknown;
      /** Whether the agent has posted before it failed: then members get no notice. */
      readonly posted?: boolean;
    };

/** The abort reason of an attempt whose agent may no longer act: its run is cancelled at the server, and not resumed. */
export const SWITCHED_OFF = new Error('the agent was switched off');

/** Whether the author addressed the agent, and therefore gets an answer or a reason. */
export function needsReply({ kind }: RelayEvent): boolean {
  return kind === 'mention' || kind === 'reply' || kind === 'dm' || kind === 'thread';
}

/** Personal data in queued messages, which are outside of collections. */
export function personalData({ queue }: Relay): PersonalData {
  return {
    stays: ['what a Letta agent was told and remembers: its server keeps that, and its owner can delete it'],
    export: async (userId) => ({ waiting: await queue.of(userId) }),
    forget: (userId) => queue.forget(userId),
  };
}

/** Whether an event contains a person's text, or is about an action of the person. */
export function concerns({ userId, facts }: RelayEvent, person: string): boolean {
  const isTheirs = ({ authorId }: { readonly authorId: string }) => authorId === person;
  if (userId === person || facts.author?.id === person) return true;
  return facts.chain.some(isTheirs) || facts.lines?.some(isTheirs) === true;
}

/** The event without a person's data: `undefined` if the person caused it; otherwise without the person's lines and messages. */
export function without(event: RelayEvent, person: string): RelayEvent | undefined {
  const { userId, facts } = event;
  if (userId === person || facts.author?.id === person) return undefined;
  if (!concerns(event, person)) return event;
  const chain = facts.chain.filter(({ authorId }) => authorId !== person);
  const lines = facts.lines?.filter(({ authorId }) => authorId !== person);
  return { ...event, facts: { ...facts, chain, ...(lines === undefined ? {} : { lines }) } };
}
