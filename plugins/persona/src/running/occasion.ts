import type { Actor, CompletedAction, PersonaTrigger, TextLimits, ToolInfo } from '@cinnabar/sdk';
import type { Message, SendableChannels } from 'discord.js';
import type { ReflectionState } from '../memory/types.js';
import type { Voice } from '../speaking/voice.js';

/** Something on which a persona runs, with what it may do about it. */
export interface Occasion {
  readonly trigger: PersonaTrigger;
  readonly channel: SendableChannels;
  readonly guildId: string | null;
  /** For whom tools are used; `undefined` where the persona acts of its own accord. */
  readonly actor: Actor | undefined;
  readonly tools: readonly ToolInfo[];
  readonly voice: Voice;
  /** How long an answer may be before it becomes a file. */
  readonly limits?: TextLimits | undefined;
  /** The message that it is about, for a reaction. */
  readonly message: Message | null;
  readonly reflection?: ReflectionState;
  /** What it has thought and done about the same words in an earlier run, while a tool call had to wait. */
  readonly before?: readonly CompletedAction[];
  readonly signal: AbortSignal;
}
