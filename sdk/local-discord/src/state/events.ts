import type { LocalApplication } from './applications.js';
import type { LocalChannel } from './channels.js';
import type { LocalGuild, LocalRole } from './guilds.js';
import type { LocalInteraction } from './interactions.js';
import type { EmojiRef, LocalMessage } from './messages.js';
import type { LocalUser } from './users.js';

/** The source of time of the local Discord (milliseconds since 1970). Ids, rate limits, the 3-second rule and token lifetimes depend on it. */
export interface Clock {
  now(): number;
}

/** The computer's own clock. */
export const systemClock: Clock = { now: () => Date.now() };

/**
 * An event for observers (a console, a test): in server order, published before the request that caused it is answered. An ephemeral message arrives as
 * `messageCreate` with `message.visibleTo` set; a deferred response as `interactionDefer`, then, once it has content, as `messageCreate`.
 */
export type LocalEvent =
  | { type: 'messageCreate'; message: LocalMessage }
  | { type: 'messageEdit'; message: LocalMessage }
  | { type: 'messageDelete'; message: LocalMessage }
  | { type: 'reactionAdd'; message: LocalMessage; user: LocalUser; emoji: EmojiRef }
  | { type: 'reactionRemove'; message: LocalMessage; user: LocalUser; emoji: EmojiRef }
  | { type: 'reactionsClear'; message: LocalMessage; emoji?: EmojiRef }
  | { type: 'typing'; channel: LocalChannel; user: LocalUser }
  | { type: 'pin' | 'unpin'; message: LocalMessage }
  | { type: 'channelCreate' | 'channelEdit' | 'channelDelete'; channel: LocalChannel }
  | { type: 'roleCreate' | 'roleEdit' | 'roleDelete'; role: LocalRole }
  | { type: 'memberJoin' | 'memberLeave' | 'memberEdit'; guild: LocalGuild; user: LocalUser }
  | { type: 'interactionCreate' | 'interactionDefer' | 'interactionAnswer'; interaction: LocalInteraction }
  | { type: 'connect' | 'disconnect'; application: LocalApplication; shard: number };

export type LocalEventType = LocalEvent['type'];
