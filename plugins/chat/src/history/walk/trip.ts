import type { SendableChannels } from 'discord.js';
import type { Ask } from '../ask.js';
import type { WindowOptions } from '../types.js';

/** A part of a channel to read, backwards. */
export interface Place {
  readonly channel: SendableChannels;
  /** The newest message of interest; `undefined` is now. */
  readonly upTo: string | undefined;
  /** The oldest; `undefined`: as far back as there is. */
  readonly downTo: string | undefined;
}

/** One reading of a window. */
export interface Trip {
  readonly options: WindowOptions;
  /** Asks Discord, and counts. */
  readonly ask: Ask;
  /** Tells what could not be included, once. */
  note(sentence: string): void;
}
