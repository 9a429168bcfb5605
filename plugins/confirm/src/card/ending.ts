import { asNotice } from '@cinnabar/sdk';

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
  partly: '🔁 I was restarted in the middle of this. What became of each is in my answer below.',
  over: `${NOT_RUN}this request was over already. Please ask again.`,
  cancelled: '🛑 Cancelled: it was not run.',
  done: '✅ Done.',
  failed: '⚠️ It failed.',
  refused: '⛔ Not run.',
  unknown:
    '❓ I was interrupted while doing this and do not know whether it took effect. Please check before you ask again.',
} as const;

/** Of these the call ran, or may have: the card stays readable. */
const RAN: ReadonlySet<Ending> = new Set<Ending>(['done', 'failed', 'unknown', 'partly']);

/** Whether a card that ends so also says who decided it. */
export const showsVerdict = (ending: Ending): boolean => RAN.has(ending);

export const lineOf = (ending: Ending): string => LINES[ending];

/** A member's decision as a card shows it. */
export interface Verdict {
  readonly approved: boolean;
  readonly userId: string;
  /** Milliseconds since the epoch; unknown after a restart. */
  readonly at?: number;
}

/**
 * The card with how it ended below it; struck through line by line when nothing was run. It loses its buttons, by which models' contexts know a card,
 * so it is marked as a notice.
 */
export function ended(content: string, ending: Ending, verdict?: Verdict): string {
  const decided = verdict === undefined ? [] : [verdictLine(verdict)];
  return asNotice([RAN.has(ending) ? content : struckThrough(content), '', ...decided, LINES[ending]].join('\n'));
}

/** The card with who decided it, and when. */
export function decided(content: string, verdict: Verdict): string {
  return [verdict.approved ? content : struckThrough(content), '', verdictLine(verdict)].join('\n');
}

function verdictLine({ approved, userId, at }: Verdict): string {
  const when = at === undefined ? '' : ` <t:${Math.floor(at / 1_000)}:f>`;
  return `${approved ? '✅ Confirmed' : '❌ Cancelled'} by <@${userId}>${when}`;
}

function struckThrough(content: string): string {
  return content
    .split('\n')
    .map((line) => (line.trim() === '' || line.startsWith('~~') ? line : `~~${line}~~`))
    .join('\n');
}

const LONGEST_ID = '9'.repeat(20);
const LATEST_MS = 9_999_999_999_999;

/** How long a card can become, in UTF-16 units. */
export function longestEnded(content: string): number {
  const endings = Object.keys(LINES).filter((key): key is Ending => key in LINES);
  const verdict = { approved: true, userId: LONGEST_ID, at: LATEST_MS };
  const lengths = endings.map((ending) => ended(content, ending, RAN.has(ending) ? verdict : undefined).length);
  return Math.max(...lengths, decided(content, { ...verdict, approved: false }).length);
}
