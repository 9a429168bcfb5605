import { discordError } from '../errors.js';
import type { EmojiRef } from '../state/emoji.js';
import type { World } from '../state/world.js';

const FLAG = /^\p{RI}{2}$/u;
const KEYCAP = /^[#*0-9]\uFE0F?\u20E3$/u;
/** Pictographs, skin tones, joiners, variation selectors and tag characters, beginning with a pictograph. */
const PICTOGRAPH =
  /^\p{Extended_Pictographic}(?:\p{Extended_Pictographic}|\p{Emoji_Modifier}|\uFE0F|\u200D|[\u{E0020}-\u{E007F}])*$/u;
const CUSTOM = /^(?:<a?:)?(\w{2,32}):(\d{1,20})>?$/;

/** Reads an emoji as URLs and people write it: `👍`, `name:id` or `<:name:id>`. @throws 10014 for anything else */
export function parseEmoji(world: World, text: string): EmojiRef {
  const custom = CUSTOM.exec(text);
  if (!custom) {
    if (FLAG.test(text) || KEYCAP.test(text) || PICTOGRAPH.test(text)) return { id: null, name: text };
    throw discordError('unknownEmoji');
  }
  const id = custom[2] ?? '';
  for (const guild of world.guilds.values()) {
    const emoji = guild.emojis.get(id);
    if (emoji) return { id, name: emoji.name, ...(emoji.animated ? { animated: true } : {}) };
  }
  throw discordError('unknownEmoji');
}
