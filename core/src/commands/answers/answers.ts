import type { Reply } from '@cinnabar/sdk';
import type { Message } from 'discord.js';

/** How a command answers, whichever way it was called. */
export interface Answers {
  /** Resolves with the last message sent. */
  reply(reply: Reply): Promise<Message>;
  /** Shows that the bot is at work. */
  defer(): Promise<void>;
  /** Tells the caller, and nobody else where Discord can do that, why nothing was done. */
  refuse(sentence: string): Promise<void>;
  /** Called when the command has ended well. */
  finish(): Promise<void> | undefined;
  /** Called when the command has ended, however. */
  close(): void;
}
