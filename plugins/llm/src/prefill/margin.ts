import { speak } from '../transcript/speech.js';

const LINE_END = /\r\n|[\n\v\f\r\u0085\u2028\u2029]/;
/** Line ends that JSON leaves as they are. */
const UNESCAPED_LINE_END = /[\u0085\u2028\u2029]/g;
/** What reads as a speaker, a call or a result when it stands at the margin. */
const LOOKS_LIKE_A_SPEAKER = /^\S[^:：︓﹕]*[:：︓﹕]/u;

/** A member's message, or a result: whatever it says, its further lines never reach the margin. */
export const heardLine = speak;

/** The model's own words. Its lines stay at the margin, as it wrote them, unless one would read as somebody else's. */
export function ownLine(label: string, text: string): string {
  const [first = '', ...more] = text.trim().split(LINE_END);
  const lines = more.map((line) => (LOOKS_LIKE_A_SPEAKER.test(line) ? `  ${line}` : line.trimEnd()));
  return [`${label}: ${first.trimEnd()}`, ...lines].join('\n');
}

/** `Claude>[get_time]: {"timezone": "Asia/Tokyo"}` */
export function callLine(label: string, tool: string, input: Readonly<Record<string, unknown>>): string {
  return `${label}>[${tool}]: ${spacedJson(input)}`;
}

/** `Claude<[get_time]: 14:30 JST`, up to the colon. */
export function resultLabel(label: string, tool: string): string {
  return `${label}<[${tool}]`;
}

/** JSON on one line with a space behind commas and colons. */
export function spacedJson(value: unknown): string {
  // Every line feed in this is the formatter's: those within strings are escaped.
  return JSON.stringify(value, null, 1)
    .replace(/([[{])\n\s*/g, '$1')
    .replace(/\n\s*([\]}])/g, '$1')
    .replace(/\n\s*/g, ' ')
    .replace(UNESCAPED_LINE_END, (end) => `\\u${end.charCodeAt(0).toString(16).padStart(4, '0')}`);
}
