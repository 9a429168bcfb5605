/** How much text of one result is handed on: more would push everything else out of a model's window. */
export const MOST_TEXT_BYTES = 100 * 1024;

/** The text, or its beginning with a note that says how much is missing. */
export function cutText(text: string, mostBytes = MOST_TEXT_BYTES): string {
  const bytes = Buffer.byteLength(text);
  if (bytes <= mostBytes) return text;
  // A character that the cut went through is left out.
  const kept = Buffer.from(text)
    .subarray(0, mostBytes)
    .toString()
    .replace(/\uFFFD$/, '');
  return `${kept}\n… (cut: ${sizeOf(bytes - mostBytes)} of ${sizeOf(bytes)} are left out)`;
}

/** `900 bytes`, `12 KB`, `3.4 MB`. */
export function sizeOf(bytes: number): string {
  if (bytes < 1024) return `${bytes} bytes`;
  if (bytes < 1024 * 1024) return `${Math.round(bytes / 1024)} KB`;
  return `${(bytes / 1024 / 1024).toFixed(1)} MB`;
}
