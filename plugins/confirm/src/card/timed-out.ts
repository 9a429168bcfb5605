/** What a card becomes when nobody decided in time: every line struck through, and why. */
export function timedOut(content: string): string {
  const struck = content.split('\n').map((line) => (line.trim() === '' ? line : `~~${line}~~`));
  return [...struck, '', '⏱️ Request timed out'].join('\n');
}
