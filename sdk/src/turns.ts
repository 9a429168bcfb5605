import type { Guild, GuildMember, Message, SendableChannels, User } from 'discord.js';
import type { Actor } from './access.js';
import type { Reply } from './commands.js';
import type { TextLimits } from './discord/send.js';
import { CinnabarError } from './errors.js';
import type { ToolSource } from './ledger.js';
import type { RenderedRequest } from './llm.js';
import { defineToken } from './token.js';

export type TurnTrigger = 'command' | 'mention' | 'reply' | 'dm' | 'name' | 'random' | 'activate' | 'continue';

/** Something said to the bot that wants an answer. */
export interface Turn {
  readonly id: string;
  /** Why it is for the bot. Of these, `name` and `random` were not addressed to it. */
  readonly trigger: TurnTrigger;
  /** The text of the message, without the command or the mention that led here. */
  readonly text: string;
  /** Turns that waited in the same channel and are answered together with this one, oldest first. Empty for responders that take no batches. */
  readonly earlier: readonly Turn[];
  readonly actor: Actor;
  readonly user: User;
  readonly member: GuildMember | null;
  readonly guild: Guild | null;
  readonly channel: SendableChannels;
  /** `null` when it came by slash command. */
  readonly message: Message | null;
  /**
   * Aborts when the answer is not wanted any more: the question was deleted, a member stopped it (`turnEndOf` tells these two), the plugin
   * stops, or the deadline has passed.
   */
  readonly signal: AbortSignal;
  /** When the answer has to be there, by the clock in ms: for requests to models. Set when the turn is handed to its responder. */
  readonly deadlineAt?: number;
  /** How long an answer may be before it becomes a file; `reply` keeps to it. */
  readonly answerLimits?: TextLimits;
  /**
   * For messages of the answer that are sent without `reply`. While one is on its way, the turn is not given up, so that no one reads that it was after they
   * have read the answer. Returns `message`.
   * @example await turn.sending(webhook.send({ content }));
   */
  sending<P extends Promise<unknown>>(message: P): P;
  /** Answers in the channel; text over Discord's limit is split without breaking fences, and a very long one becomes a file. Resolves with the last message sent. */
  reply(reply: Reply): Promise<Message>;
}

/** Why a member wants no answer any more, as the reason of a turn's signal. */
export type TurnEnd = 'withdrawn' | 'stopped';

/** The reason with which a turn's signal aborts: `withdrawn` when the question was deleted, `stopped` by command. */
export function turnEndReason(end: TurnEnd): CinnabarError {
  return new CinnabarError(end === 'withdrawn' ? 'CINNABAR_TURN_WITHDRAWN' : 'CINNABAR_TURN_STOPPED');
}

/** Why a member wants no answer any more; `undefined` for a signal that has not aborted, or not because of a member. */
export function turnEndOf(signal: AbortSignal): TurnEnd | undefined {
  const reason: unknown = signal.reason;
  if (!(reason instanceof CinnabarError)) return undefined;
  if (reason.code === 'CINNABAR_TURN_WITHDRAWN') return 'withdrawn';
  return reason.code === 'CINNABAR_TURN_STOPPED' ? 'stopped' : undefined;
}

/** A mind that `ai` can route a turn to. */
export interface ResponderDefinition {
  readonly name: string;
  readonly description: string;
  /** Whether it answers all turns that wait in a channel at once: the newest is the turn, the others are its `earlier`. */
  readonly batches?: boolean;
  /** Whether it shows typing by itself, when it wants to; by default it is shown for as long as it answers. */
  readonly typesItself?: boolean;
  /**
   * Whether it has a queue of its own, and `respond` resolves as soon as a turn is in it: turns then go to it as they come, past the queue of `ai`
   * and its limits for what waits.
   */
  readonly queues?: boolean;
  /** How many turns may wait where this one was said, beside the limit of `ai`. */
  maxWaiting?(turn: Pick<Turn, 'channel' | 'guild'>): Promise<number>;
  /** The model and what is configured in a channel, each with the layer that it comes from, in lines: for `ai status`. */
  status?(place: Pick<Turn, 'channel' | 'guild'>): Promise<readonly string[]>;
  /** The request that it would send to its model for this turn, with the rights of its actor; nothing is sent or kept: for `ai prompt`. */
  prompt?(turn: Turn): Promise<RenderedRequest>;
  respond(turn: Turn): Promise<void>;
}

export interface ResponderInfo {
  readonly name: string;
  readonly description: string;
  readonly plugin: string;
  readonly batches: boolean;
  readonly queues?: boolean;
  readonly typesItself?: boolean;
}

export interface Responders {
  /** Responders whose plugin is enabled in the guild. */
  list(guildId: string | null): readonly ResponderInfo[];
  /**
   * One whose plugin is being reloaded is waited for.
   * @throws CINNABAR_RESPONDER_UNKNOWN when there is none of that name in the turn's guild; CINNABAR_RESPONDER_UPDATING when it may come back
   */
  respond(name: string, turn: Turn): Promise<void>;
  /** How many turns the responder of that name lets wait there; `undefined` when it does not say, or is not there. */
  maxWaiting(name: string, turn: Pick<Turn, 'actor' | 'channel' | 'guild'>): Promise<number | undefined>;
  /** The status of the responder of that name in a place; `undefined` when it reports none, or does not exist. */
  status(name: string, turn: Pick<Turn, 'actor' | 'channel' | 'guild'>): Promise<readonly string[] | undefined>;
  /** The request to the model that the responder of that name would make of the turn; `undefined` when it has none to show, or is not there. */
  prompt(name: string, turn: Turn): Promise<RenderedRequest | undefined>;
}
export const Responders = defineToken<Responders>('cinnabar.responders');

/** For responders that answer messages without a request. Provided by `ai`. */
export interface FrontDoor {
  /** The name of the responder in a channel. */
  responderIn(guildId: string | null, channelId: string): Promise<string>;
  /**
   * Makes a turn of a message, which is then answered in the channel's order. Resolves when it has been; with `false` at once when another
   * responder answers there, the bot may not write there, or limits refuse it.
   */
  take(
    message: Message,
    options: { readonly trigger: TurnTrigger; readonly responder: string; readonly text?: string },
  ): Promise<boolean>;
  /** Whether a turn of the channel is being answered, or waits. */
  isAnswering(channelId: string): boolean;
  /**
   * Stops answering those turns of a channel for which `isTheirs` holds, under way or waiting. Turns that were to be answered together with
   * them are answered without them. @returns how many were stopped, and how many there were
   */
  stop(channelId: string, isTheirs: (turn: Turn) => boolean): { readonly stopped: number; readonly found: number };
  /**
   * Messages for which `isMine` holds are no turns: they answer something that was asked of their author. Called for messages to the bot only;
   * must be quick, and must not throw. @returns takes it back
   */
  claim(isMine: (message: Message) => boolean): () => void;
}
export const FrontDoor = defineToken<FrontDoor>('cinnabar.front-door');

/** One statement in a conversation. */
export interface ContextLine {
  /** A name that no other speaker of the conversation has. */
  readonly speaker: string;
  /** Whether the bot itself said it. */
  readonly own: boolean;
  readonly text: string;
  /** The messages that say it, and whose words they are. */
  readonly source: ToolSource;
}

export interface ChannelContext {
  /** Oldest first. */
  readonly lines: readonly ContextLine[];
  /** The instructions to the bot for the place, from the server's configuration. */
  readonly instructions: string | undefined;
}

export interface ChannelContextOptions {
  /** How many messages at most. */
  readonly limit: number;
  /** Only what was said before this message. */
  readonly before?: string | undefined;
  readonly signal?: AbortSignal;
}

/** The conversation in a channel as `chat` would read it. Provided by `chat`. */
export interface ChannelContexts {
  /** The messages in the actor's place, as far as they may read them. Rejects with discord.js's error when Discord does not answer. */
  read(actor: Actor, options: ChannelContextOptions): Promise<ChannelContext>;
}
export const ChannelContexts = defineToken<ChannelContexts>('cinnabar.channel-contexts');
