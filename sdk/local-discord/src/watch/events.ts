import type { LocalApplication } from '../state/application.js';
import type { LocalChannel } from '../state/channel.js';
import type { EmojiRef } from '../state/emoji.js';
import type { LocalGuild } from '../state/guild.js';
import type { LocalInteraction } from '../state/interaction.js';
import type { LocalMessage } from '../state/message.js';
import type { LocalUser } from '../state/user.js';

/**
 * What happened, for whoever watches (a console, a test): in server order, told before the request that caused it is answered.
 * An ephemeral message arrives as `messageCreate` with `message.visibleTo` set; a deferred answer as `interactionDefer`, then,
 * once it has something to show, as `messageCreate`.
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
  | { type: 'memberJoin' | 'memberLeave' | 'memberEdit'; guild: LocalGuild; user: LocalUser }
  | { type: 'interactionCreate' | 'interactionDefer' | 'interactionAnswer'; interaction: LocalInteraction }
  | { type: 'connect' | 'disconnect'; application: LocalApplication; shard: number };

export type LocalEventType = LocalEvent['type'];
