const TIMED_OUT = '⏱️ Request timed out';
const WITHDRAWN = '🛑 Request withdrawn';

/** What a card becomes when nobody decided in time: every line struck through, and why. */
export function timedOut(content: string): string {
  return struck(content, TIMED_OUT);
}

/** What a card becomes when whoever asked does not want it any more. No longer than the timed-out form, which is known to fit. */
export function withdrawn(content: string): string {
  return struck(content, WITHDRAWN);
}

function struck(content: string, why: string): string {
  const lines = content.split('\n').map((line) => (line.trim() === '' ? line : `~~${line}~~`));
  return [...lines, '', why].join('\n');
}
