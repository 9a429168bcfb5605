/** A stretch of text, `end` exclusive. */
export interface Span {
  readonly start: number;
  readonly end: number;
}

/** The form in which a description and what is quoted from it are compared. */
export function normalise(text: string): string {
  return text.normalize('NFKC').toLowerCase().replace(/\s+/gu, ' ').trim();
}

/** A description in that form; a line of its own stays an entry of its own. */
export function normaliseLines(text: string): string {
  return normalise(text.trim().replace(/\s*\n\s*/gu, '; '));
}

/** Where `part` occurs in `text`, first to last, without overlap. */
export function occurrences(text: string, part: string): Span[] {
  const found: Span[] = [];
  if (part === '') return found;
  for (let start = text.indexOf(part); start >= 0; start = text.indexOf(part, start + part.length)) {
    found.push({ start, end: start + part.length });
  }
  return found;
}

export function overlaps(span: Span, others: readonly Span[]): boolean {
  return others.some(({ start, end }) => span.start < end && start < span.end);
}
