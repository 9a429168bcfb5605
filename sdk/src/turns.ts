import type { Guild, GuildMember, Message, SendableChannels, User } from 'discord.js';
import type { Actor } from './access.js';
import type { Reply } from './commands.js';
import type { TextLimits } from './discord/send.js';
import { CinnabarError } from './errors.js';
import type { ToolSource } from './ledger.js';
import type { RenderedRequest } from './llm.js';
import { defineToken } from './token.js';

/** `activate` and `continue`: a command without a text asked for an answer, or for more of the last one. */
export type TurnTrigger = 'command' | 'mention' | 'reply' | 'dm' | 'name' | 'random' | 'activate' | 'continue';

/** A message to the bot that a responder answers. */
export interface Turn {
  readonly id: string;
  /** Why the bot answers. With `name` and `random`, the message was not addressed to the bot. */
  readonly trigger: TurnTrigger;
  /** The text of the message, without the command or the mention. */
  readonly text: string;
  /** Turns that waited in the same channel and are answered together with this one, oldest first. Empty for responders without `batches`. */
  readonly earlier: readonly Turn[];
  readonly actor: Actor;
  readonly user: User;
  readonly member: GuildMember | null;
  readonly guild: Guild | null;
  readonly channel: SendableChannels;
  /** `null` for a slash command. */
  readonly message: Message | null;
  /**
   * Aborts when the answer is not needed any more: the question was deleted or a member stopped the turn (`turnEndOf` distinguishes these), the plugin stops,
   * or the deadline has passed.
   */
  readonly signal: AbortSignal;
  /** Deadline of the answer, in milliseconds since 1970, by the clock: for requests to models. Set when the turn is passed to its responder. */
  readonly deadlineAt?: number;
  /** Maximum length of an answer before it becomes a file; `reply` applies it. */
  readonly answerLimits?: TextLimits;
  /**
   * Tracks a message of the answer that is sent without `reply`: while it is on its way, the turn does not time out, so that no report of a time-out follows
   * the answer. Returns `message`.
   * @example await turn.sending(webhook.send({ content }));
   */
  sending<P extends Promise<unknown>>(message: P): P;
  /**
   * Answers in the channel; text over Discord's limit is split without breaking fences, and a very long one becomes a file. Resolves with the last sent
   * message.
   */
  reply(reply: Reply): Promise<Message>;
}

/** Why a member has ended a turn, as the reason of its signal. */
export type TurnEnd = 'withdrawn' | 'stopped';

/** The reason with which a turn's signal aborts: `withdrawn` when the question was deleted, `stopped` by command. */
export function turnEndReason(end: TurnEnd): CinnabarError {
  return new CinnabarError(end === 'withdrawn' ? 'CINNABAR_TURN_WITHDRAWN' : 'CINNABAR_TURN_STOPPED');
}

/** Why a member has ended a turn; `undefined` for a signal that has not aborted, or has another reason. */
export function turnEndOf(signal: AbortSignal): TurnEnd | undefined {
  const reason: unknown = signal.reason;
  if (!(reason instanceof CinnabarError)) return undefined;
  if (reason.code === 'CINNABAR_TURN_WITHDRAWN') return 'withdrawn';
  return reason.code === 'CINNABAR_TURN_STOPPED' ? 'stopped' : undefined;
}

/** A responder that `ai` can route turns to. */
export interface ResponderDefinition {
  readonly name: string;
  readonly description: string;
  /** Whether it answers all turns that wait in a channel at once: the newest is the turn, the others are its `earlier`. */
  readonly batches?: boolean;
  /** Whether it controls the typing indicator itself; by default the indicator is shown while it answers. */
  readonly typesItself?: boolean;
  /**
   * Whether it has a queue of its own, and `respond` resolves as soon as a turn is queued: turns are then passed on as they arrive, without the queue of `ai`
   * and its limits on waiting turns.
   */
  readonly queues?: boolean;
  /** Maximum number of waiting turns in the turn's channel, in addition to the limit of `ai`. */
  maxWaiting?(turn: Pick<Turn, 'channel' | 'guild'>): Promise<number>;
  /** The model and the configuration in a channel, with the layer of each value, as lines for `ai status`. */
  status?(place: Pick<Turn, 'channel' | 'guild'>): Promise<readonly string[]>;
  /** The request that it would send to its model for this turn, with the rights of its actor, for `ai prompt`. Nothing is sent or stored. */
  prompt?(turn: Turn): Promise<RenderedRequest>;
  respond(turn: Turn): Promise<void>;
}

/** A registered responder. */
export interface ResponderInfo {
  readonly name: string;
  readonly description: string;
  readonly plugin: string;
  readonly batches: boolean;
  readonly queues?: boolean;
  readonly typesItself?: boolean;
}

/** The registered responders. Provided by the host. */
export interface Responders {
  /** Responders whose plugin is enabled in the guild. */
  list(guildId: string | null): readonly ResponderInfo[];
  /**
   * Passes a turn to a responder. Waits for a responder whose plugin is being reloaded.
   * @throws CINNABAR_RESPONDER_UNKNOWN when the turn's guild has no responder of that name; CINNABAR_RESPONDER_UPDATING when a reload that may bring it back
   *   takes too long
   */
  respond(name: string, turn: Turn): Promise<void>;
  /** The limit of a responder on waiting turns there; `undefined` when it sets none, or does not exist. */
  maxWaiting(name: string, turn: Pick<Turn, 'actor' | 'channel' | 'guild'>): Promise<number | undefined>;
  /** The status lines of a responder in a place; `undefined` when it reports none, or does not exist. */
  status(name: string, turn: Pick<Turn, 'actor' | 'channel' | 'guild'>): Promise<readonly string[] | undefined>;
  /** The model request of a responder for the turn; `undefined` when it reports none, or does not exist. */
  prompt(name: string, turn: Turn): Promise<RenderedRequest | undefined>;
}
export const Responders = defineToken<Responders>('cinnabar.responders');

/** For responders that answer messages without a request. Provided by `ai`. */
export interface FrontDoor {
  /** The name of a channel's responder. */
  responderIn(guildId: string | null, channelId: string): Promise<string>;
  /**
   * Makes a turn of a message, which is answered in the channel's order. Resolves with `true` after the answer; with `false` at once when another responder
   * answers there, the bot may not write there, or limits refuse the turn.
   */
  take(
    message: Message,
    options: { readonly trigger: TurnTrigger; readonly responder: string; readonly text?: string },
  ): Promise<boolean>;
  /** Whether a turn of the channel is being answered or waits. */
  isAnswering(channelId: string): boolean;
  /**
   * Stops the turns of a channel for which `isTheirs` is true, whether they run or wait. Turns that would have been answered together with them are answered
   * without them.
   * @returns the number of stopped turns, and of all turns found
   */
  stop(channelId: string, isTheirs: (turn: Turn) => boolean): { readonly stopped: number; readonly found: number };
  /**
   * Excludes messages for which `isMine` is true from turns, because they answer a question to their author. Called only for messages addressed to the bot;
   * must be quick, and must not throw.
   * @returns a function that removes the exclusion
   */
  claim(isMine: (message: Message) => boolean): () => void;
}
export const FrontDoor = defineToken<FrontDoor>('cinnabar.front-door');

/** One message in a conversation. */
export interface ContextLine {
  /** A name that no other speaker of the conversation has. */
  readonly speaker: string;
  /** Whether the bot wrote it. */
  readonly own: boolean;
  readonly text: string;
  /** The messages with the text, and their authors. */
  readonly source: ToolSource;
}

/** A conversation, and the bot's instructions for its place. */
export interface ChannelContext {
  /** Oldest first. */
  readonly lines: readonly ContextLine[];
  /** The bot's instructions for the place, from the server's configuration. */
  readonly instructions: string | undefined;
}

export interface ChannelContextOptions {
  /** Maximum number of messages. */
  readonly limit: number;
  /** Only messages before this one. */
  readonly before?: string | undefined;
  readonly signal?: AbortSignal;
}

/** The conversation in a channel as `chat` reads it. Provided by `chat`. */
export interface ChannelContexts {
  /** The messages in the actor's place that the actor may read. Rejects with the error of discord.js when Discord does not answer. */
  read(actor: Actor, options: ChannelContextOptions): Promise<ChannelContext>;
}
export const ChannelContexts = defineToken<ChannelContexts>('cinnabar.channel-contexts');
