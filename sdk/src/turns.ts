import type { Guild, GuildMember, Message, SendableChannels, User } from 'discord.js';
import type { Actor } from './access.js';
import type { Reply } from './commands.js';
import { defineToken } from './token.js';

/** Something said to the bot that wants an answer. */
export interface Turn {
  readonly id: string;
  readonly trigger: 'command' | 'mention' | 'reply' | 'dm';
  /** What was said, without the command or the mention that led here. */
  readonly text: string;
  readonly actor: Actor;
  readonly user: User;
  readonly member: GuildMember | null;
  readonly guild: Guild | null;
  readonly channel: SendableChannels;
  /** `null` when it came by slash command. */
  readonly message: Message | null;
  readonly signal: AbortSignal;
  /** Answers in the channel; text over Discord's limit is split without breaking fences. Resolves with the last message sent. */
  reply(reply: Reply): Promise<Message>;
}

/** A mind that `ai` can route a turn to. */
export interface ResponderDefinition {
  readonly name: string;
  readonly description: string;
  respond(turn: Turn): Promise<void>;
}

export interface ResponderInfo {
  readonly name: string;
  readonly description: string;
  readonly plugin: string;
}

export interface Responders {
  /** Those whose plugin is enabled in the guild. */
  list(guildId: string | null): readonly ResponderInfo[];
  /** @throws CINNABAR_RESPONDER_UNKNOWN when there is none of that name in the turn's guild */
  respond(name: string, turn: Turn): Promise<void>;
}
export const Responders = defineToken<Responders>('cinnabar.responders');
