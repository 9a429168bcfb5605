/** A custom emoji of a guild. */
export interface LocalEmoji {
  readonly id: string;
  name: string;
  readonly animated: boolean;
}

/** What a reaction shows: a Unicode emoji (`id` null) or a custom one. */
export interface EmojiRef {
  id: string | null;
  name: string;
  animated?: boolean;
}

/** The same emoji has the same key, however it was written. */
export function emojiKey(emoji: EmojiRef): string {
  return emoji.id ?? emoji.name;
}
