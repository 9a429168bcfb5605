import type { APIEmoji, APIPartialEmoji } from 'discord-api-types/v10';
import type { EmojiRef, LocalEmoji } from '../state/emoji.js';

export function emojiRefPayload(emoji: EmojiRef): APIPartialEmoji {
  return { id: emoji.id, name: emoji.name, ...(emoji.animated ? { animated: true } : {}) };
}

export function emojiPayload(emoji: LocalEmoji): APIEmoji {
  return {
    id: emoji.id,
    name: emoji.name,
    animated: emoji.animated,
    available: true,
    managed: false,
    require_colons: true,
    roles: [],
  };
}
