/** How a card ends that nobody decides any more, or whose decision was not answered before the bot was restarted. */
export type Ending = keyof typeof LINES;

const NOT_RUN = '🔁 Not run: ';
const LINES = {
  timedOut: '⏱️ Request timed out',
  withdrawn: '🛑 Request withdrawn',
  forgotten: '🗑️ Not run: the data of the member who asked was deleted.',
  undelivered: `${NOT_RUN}Discord did not confirm this card in time. Please ask again.`,
  restarted: `${NOT_RUN}I was restarted. Please ask again.`,
  pressed: `${NOT_RUN}I was restarted before I could act on your 👍. Please ask again.`,
  cutOff: `${NOT_RUN}I was cut off from Discord and saw your 👍 too late. Please ask again.`,
  over: `${NOT_RUN}this request was over already. Please ask again.`,
  cancelled: '🛑 Cancelled: it was not run.',
  done: '✅ Done.',
  failed: '⚠️ It failed.',
  refused: '⛔ Not run.',
  unknown:
    '❓ I was interrupted while doing this and do not know whether it took effect. Please check before you ask again.',
} as const;

/** Of these the call ran, or may have: the card stays readable. */
const RAN: ReadonlySet<Ending> = new Set<Ending>(['done', 'failed', 'unknown']);

/** The card with how it ended below it; struck through line by line when nothing was run. */
export function ended(content: string, ending: Ending): string {
  const lines = content.split('\n').map((line) => (RAN.has(ending) || line.trim() === '' ? line : `~~${line}~~`));
  return [...lines, '', LINES[ending]].join('\n');
}

/** How long a card can become, in UTF-16 units. */
export function longestEnded(content: string): number {
  const endings = Object.keys(LINES).filter((key): key is Ending => key in LINES);
  return Math.max(...endings.map((ending) => ended(content, ending).length));
}
