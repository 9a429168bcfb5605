import type { Actor } from './access.js';
import type { ToolSource } from './provenance.js';
import { defineToken } from './token.js';

/** What was said in a conversation, in one go. */
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
  /** What the server's configuration tells the bot to do there. */
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
  /** What was said where the actor is, as far as they may read it. Rejects with discord.js's error when Discord does not answer. */
  read(actor: Actor, options: ChannelContextOptions): Promise<ChannelContext>;
}
export const ChannelContexts = defineToken<ChannelContexts>('cinnabar.channel-contexts');
