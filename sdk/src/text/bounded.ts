/** How much text a tool's result may hold where its caller says nothing else: about 5,000 tokens. */
export const RESULT_CHARACTERS = 20_000;

/**
 * The text, or its beginning with a line that says how much is missing and how to get it; never longer than `most`, and never cut inside a
 * character.
 * @param most at least 200
 */
export function boundedText(text: string, most: number): string {
  if (text.length <= most) return text;
  const note = `\n… (cut: only the beginning of ${text.length} characters is shown. Ask for less at a time, or for a part, to see the rest.)`;
  const kept = text.slice(0, Math.max(0, most - note.length)).replace(/[\uD800-\uDBFF]$/u, '');
  return `${kept}${note}`;
}
