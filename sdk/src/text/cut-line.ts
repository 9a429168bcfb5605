/** A line that is too long, and the range in which it may be cut. */
interface LineCut {
  readonly text: string;
  /** Start of the piece, and the first index at which it may be cut. */
  readonly from: number;
  readonly earliest: number;
  /** The last index at which it may be cut. */
  readonly latest: number;
  readonly lineEnd: number;
  readonly code: boolean;
  /** Spans that are better kept whole, ascending: inline code, links, mentions. */
  readonly kept: readonly Span[];
}

export type Span = readonly [start: number, end: number];

const SENTENCE_END = /[.!?\u2026]["'\u201d\u2019)\]*_]*$/;
/** Full stop, exclamation mark and question mark of Chinese and Japanese. */
const WIDE_SENTENCE_END = /[\u3002\uff01\uff1f]/;
const FENCE_LIKE = /(?:[ \t]{0,20}(?:>|(?:[-*+]|\d{1,9}[.)])[ \t])){0,8}[ \t]{0,20}(?:`{3}|~{3})/y;
const OPENING_HEAD = /^(?:[ \t]*(?:>|(?:[-*+]|\d{1,9}[.)])[ \t])){0,16}[ \t]*(?:`{3,}|~{3,})[^`\n]*/;
const CLOSING_HEAD = /^[ \t>]*(?:`{3,}|~{3,})[ \t]*/;
const LINK_OR_TAG = /\[[^[\]\n]*\]\([^()\s]*(?:\([^()\s]*\)[^()\s]*)*\)|<[^<>\n]{1,200}>|https?:\/\/\S+/g;
/** Created at the first use, since it loads Unicode's rules. */
let graphemes: Intl.Segmenter | undefined;

/** Finds the best place to cut a line: after a sentence, between words, between graphemes, between code points. */
export function cutLine(cut: LineCut): number {
  const head = headFence(cut);
  if (head >= cut.latest && cut.earliest === cut.from) return insideMarker(cut);
  const mayCut = (at: number): boolean => at > head && !looksLikeFence(cut, at);
  let word: number | undefined;
  let span = lastSpanBefore(cut.kept, cut.latest);
  for (let at = cut.latest; at > cut.earliest; at -= 1) {
    if (!endsWord(cut, at)) continue;
    while (span >= 0 && (cut.kept[span]?.[0] ?? 0) >= at) span -= 1;
    if ((cut.kept[span]?.[1] ?? 0) > at) continue;
    const best = cut.code || endsSentence(cut, at);
    if ((word !== undefined && !best) || !mayCut(at)) continue;
    if (best) return at;
    word = at;
  }
  return word ?? betweenGraphemes(cut, mayCut);
}

/** Whether a word ends at `at`. In code the cut is after the space, which is kept. */
function endsWord({ text, code }: LineCut, at: number): boolean {
  if (code) return isSpace(text, at - 1);
  return (isSpace(text, at) && !isSpace(text, at - 1)) || WIDE_SENTENCE_END.test(text.charAt(at - 1));
}

function endsSentence({ text, from }: LineCut, at: number): boolean {
  return WIDE_SENTENCE_END.test(text.charAt(at - 1)) || SENTENCE_END.test(text.slice(Math.max(from, at - 8), at));
}

/** Inline code, links, mentions and addresses of one line, ascending, without overlap. */
export function keptSpans(text: string, start: number, end: number): readonly Span[] {
  const line = text.slice(start, end);
  const found = [...codeSpans(line), ...[...line.matchAll(LINK_OR_TAG)].map(spanOf)].sort((a, b) => a[0] - b[0]);
  const spans: Span[] = [];
  let last = -1;
  for (const [from, to] of found) {
    if (from < last) continue;
    spans.push([start + from, start + to]);
    last = to;
  }
  return spans;
}

function codeSpans(line: string): Span[] {
  const runs = [...line.matchAll(/`+/g)].map(spanOf);
  const next = new Map<number, number>();
  const partner: (number | undefined)[] = [];
  for (let index = runs.length - 1; index >= 0; index -= 1) {
    const [from, to] = runs[index] ?? [0, 0];
    partner[index] = next.get(to - from);
    next.set(to - from, index);
  }
  const spans: Span[] = [];
  for (let index = 0; index < runs.length; index += 1) {
    const other = partner[index];
    const [from] = runs[index] ?? [0];
    if (other === undefined) continue;
    spans.push([from, runs[other]?.[1] ?? from]);
    index = other;
  }
  return spans;
}

function betweenGraphemes(cut: LineCut, mayCut: (at: number) => boolean): number {
  const [from, to] = cut.kept[lastSpanBefore(cut.kept, cut.latest)] ?? [0, 0];
  if (to > cut.latest && from > cut.earliest && mayCut(from)) return from;
  graphemes ??= new Intl.Segmenter(undefined, { granularity: 'grapheme' });
  const segments = graphemes.segment(cut.text.slice(cut.from, Math.min(cut.lineEnd, cut.latest + 64)));
  for (let at = cut.latest; at > cut.earliest; ) {
    const boundary = cut.from + (segments.containing(at - cut.from)?.index ?? at - cut.from);
    if (boundary <= cut.earliest) break;
    if (mayCut(boundary)) return boundary;
    at = boundary - 1;
  }
  const splitsPair = /[\uD800-\uDBFF]$/.test(cut.text.slice(cut.latest - 1, cut.latest)) && isLowSurrogate(cut);
  return splitsPair && cut.latest - 1 > cut.from ? cut.latest - 1 : cut.latest;
}

function isLowSurrogate({ text, latest }: LineCut): boolean {
  return /^[\uDC00-\uDFFF]/.test(text.slice(latest, latest + 1));
}

/** The end of text that would become a separate fence line if the line were cut before it. */
function headFence({ text, from, earliest, latest, code }: LineCut): number {
  if (earliest > from) return earliest;
  const head = (code ? CLOSING_HEAD : OPENING_HEAD).exec(text.slice(from, latest + 1));
  return from + (head?.[0].length ?? 0);
}

/** A line that starts with a fence marker: any cut behind the marker would make a fence of its start, so the marker itself is cut. */
function insideMarker({ text, from, latest }: LineCut): number {
  const marker = /(`{3,}|~{3,})/.exec(text.slice(from, latest));
  return marker === null || marker[0].length > LONGEST_CUT_MARKER ? latest : from + marker.index + 2;
}

/** One half of a longer marker would still be a marker. */
const LONGEST_CUT_MARKER = 4;

/** Whether the text from `at` on would start with a fence, which it does not in the middle of its line. */
export function looksLikeFence({ text }: Pick<LineCut, 'text'>, at: number): boolean {
  FENCE_LIKE.lastIndex = at;
  return FENCE_LIKE.test(text);
}

/** Index of the last span that starts before `at`, or -1. */
function lastSpanBefore(spans: readonly Span[], at: number): number {
  let low = 0;
  let high = spans.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((spans[middle]?.[0] ?? at) < at) low = middle + 1;
    else high = middle;
  }
  return low - 1;
}

function isSpace(text: string, at: number): boolean {
  const character = text.charAt(at);
  return character === ' ' || character === '\t';
}

function spanOf(match: RegExpExecArray): Span {
  return [match.index, match.index + match[0].length];
}
