/** A member's longest message is as long; longer is only what plugins and webhooks write. */
export const LONGEST_MESSAGE = 4_000;
/** Of each message that is shown for the sake of another one. */
export const LONGEST_LINK = 1_000;

export interface Cut {
  readonly text: string;
  /** A line of the prompt that tells what is missing; `undefined` when nothing is. */
  readonly note: string | undefined;
}

/** Shortens a text for the prompt, never inside a character. @param readable whether the agent can read messages itself */
export function cut(text: string, longest: number, readable: boolean): Cut {
  if (text.length <= longest) return { text, note: undefined };
  const kept = text.slice(0, longest).replace(/[\uD800-\uDBFF]$/u, '');
  const rest = readable ? '; discord_read_messages(channelId, limit) shows all of it' : '';
  return { text: kept, note: `(Cut: ${kept.length} of ${text.length} characters are shown${rest}.)` };
}
