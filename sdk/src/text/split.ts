import { cutLine, keptSpans, looksLikeFence, type Span } from './cut-line.js';

interface Place {
  readonly line: number;
  readonly at: number;
  /** The fence around the place. */
  readonly fence: Fence | undefined;
  /** Whether it is in the middle of a line. */
  readonly midLine: boolean;
}

interface Cut {
  /** The index at which the part ends, and the text that closes a fence there. */
  readonly end: number;
  readonly ending: string;
  readonly next: Place;
}

/**
 * Splits Markdown into messages of at most `limit` UTF-16 units, Discord's unit. Cuts between paragraphs if possible, else between lines, sentences, words,
 * graphemes. A code fence is never broken: one that is open at the end of a part is closed, and reopened with the same marker and info string in the next part;
 * one that is open at the end of the text is closed. No part is empty; blank text has no parts. Adds only these fence lines and removes only white space at the
 * cuts; line ends become `\n`. Takes linear time.
 * @throws RangeError when `limit` is not a whole number of at least 2
 */
export function splitMessage(markdown: string, limit: number): string[] {
  if (!Number.isInteger(limit) || limit < 2) throw new RangeError('limit must be a whole number of at least 2');
  const text = markdown.replaceAll('\r\n', '\n');
  if (text.trim() === '') return [];
  if (text.length <= limit && !text.includes('```') && !text.includes('~~~')) return [text];
  const lines = scanLines(text, limit);
  const spans = memoryOfSpans(text);
  const parts: string[] = [];
  let place: Place = { line: 0, at: 0, fence: undefined, midLine: false };
  for (;;) {
    const start = skipBlank(lines, place);
    if (start.line >= lines.length) return parts;
    const cut = nextCut({ text, limit, lines, start, spans });
    const body = text.slice(start.at, cut.end);
    if (body.trim() !== '') parts.push(opening(start) + body + cut.ending);
    place = cut.next;
  }
}

interface Search {
  readonly text: string;
  readonly limit: number;
  readonly lines: readonly Line[];
  readonly start: Place;
  readonly spans: (line: Line) => readonly Span[];
}

type Boundary = 'paragraph' | 'line' | 'code' | 'emptyCode';

/** The last and best boundary that the limit allows. */
function nextCut(search: Search): Cut {
  const { lines, limit, start } = search;
  const budget = limit - opening(start).length;
  const last: Partial<Record<Boundary, number>> = {};
  let hasCode = false;
  let index = start.line;
  for (; index < lines.length; index += 1) {
    const line = lines[index];
    if (line === undefined || line.start - start.at > limit) break;
    if (line.kind === 'blank') continue;
    if (endOf(line) - start.at + endingRoom(fenceAfter(line)) > budget) break;
    if (line.kind === 'code') hasCode ||= line.contentEnd > Math.max(line.start, start.at);
    else hasCode = false;
    last[boundaryAfter(lines, index, hasCode)] = index;
  }
  if (index === lines.length) return cutAfter(search, lastContent(lines, start.line));
  const chosen = last.paragraph ?? last.line ?? last.code;
  return chosen === undefined ? cutInside(search, index, last.emptyCode) : cutAfter(search, chosen);
}

/** The edges of a fence count as the ends of paragraphs. */
function boundaryAfter(lines: readonly Line[], index: number, hasCode: boolean): Boundary {
  const line = lines[index];
  if (line?.kind === 'open' || line?.kind === 'code') return hasCode ? 'code' : 'emptyCode';
  const next = lines[index + 1]?.kind;
  return line?.kind === 'close' || next === 'blank' || next === 'open' ? 'paragraph' : 'line';
}

/** The fence that is open after the line. */
function fenceAfter(line: Line | undefined): Fence | undefined {
  return line?.kind === 'open' || line?.kind === 'code' ? line.fence : undefined;
}

/** Cuts the first line that does not fit, when no boundary between lines is within the limit. */
function cutInside(search: Search, index: number, emptyCode: number | undefined): Cut {
  const { text, limit, lines, start, spans } = search;
  const line = lines[index];
  const from = Math.max(line?.start ?? 0, start.at);
  const fence = line?.fence;
  const latest = start.at + limit - opening(start).length - endingRoom(fence);
  const earliest = Math.max(from, line?.markerEnd ?? 0);
  if (emptyCode !== undefined && (line?.kind !== 'code' || latest - earliest < 2)) return cutAfter(search, emptyCode);
  if (line === undefined || latest >= line.end) return cutAfter(search, Math.min(index, lines.length - 1));
  const kept = fence === undefined ? spans(line) : [];
  const code = fence !== undefined;
  const end = cutLine({ text, from, earliest, latest, lineEnd: line.end, code, kept });
  // Otherwise the rest would close the fence that is reopened before it.
  if (emptyCode !== undefined && looksLikeFence({ text }, end)) return cutAfter(search, emptyCode);
  const at = code ? end : skipSpaces(text, end);
  if (at >= line.contentEnd) return { ...cutAfter(search, index), end };
  return { end, ending: ending(fence), next: { line: index, at, fence, midLine: true } };
}

/** The cut at the end of a line. Inside a fence of which only blank lines are left, it is the end of the fence. */
function cutAfter({ lines, text }: Pick<Search, 'lines' | 'text'>, index: number): Cut {
  const line = lines[index];
  const end = line === undefined ? 0 : endOf(line);
  const fence = fenceAfter(line);
  let next = index + 1;
  if (fence === undefined) return { end, ending: '', next: outside(lines, next) };
  while (lines[next]?.kind === 'code' && lines[next]?.contentEnd === lines[next]?.start) next += 1;
  const after = lines[next];
  if (after?.kind === 'close') {
    const original = `\n${text.slice(after.start, after.contentEnd)}`;
    const fits = original.length <= endingRoom(fence);
    return { end, ending: fits ? original : ending(fence), next: outside(lines, next + 1) };
  }
  if (after?.fence !== fence) return { end, ending: ending(fence), next: outside(lines, next) };
  return { end, ending: ending(fence), next: { line: next, at: after.start, fence, midLine: false } };
}

function outside(lines: readonly Line[], line: number): Place {
  return { line, at: lines[line]?.start ?? 0, fence: undefined, midLine: false };
}

function skipBlank(lines: readonly Line[], place: Place): Place {
  if (place.fence !== undefined || place.midLine) return place;
  let line = place.line;
  while (lines[line]?.kind === 'blank') line += 1;
  return outside(lines, line);
}

function lastContent(lines: readonly Line[], from: number): number {
  let last = lines.length - 1;
  while (last > from && lines[last]?.kind === 'blank') last -= 1;
  return last;
}

/** Spaces at the end of a code line are part of the code. */
function endOf(line: Line): number {
  return line.kind === 'code' ? line.end : line.contentEnd;
}

function opening({ fence, midLine }: Place): string {
  if (fence === undefined) return '';
  return `${fence.header}\n${midLine ? fence.continuation : ''}`;
}

function ending(fence: Fence | undefined): string {
  return fence === undefined ? '' : `\n${fence.closing}`;
}

function endingRoom(fence: Fence | undefined): number {
  return fence === undefined ? 0 : fence.closingRoom + 1;
}

function skipSpaces(text: string, from: number): number {
  let at = from;
  while (text[at] === ' ' || text[at] === '\t') at += 1;
  return at;
}

/** Caches the spans of the last requested line: a long line is cut many times, one after another. */
function memoryOfSpans(text: string): (line: Line) => readonly Span[] {
  let known: Line | undefined;
  let spans: readonly Span[] = [];
  return (line) => {
    if (line !== known) spans = keptSpans(text, line.start, line.end);
    known = line;
    return spans;
  };
}

/** A fenced code block, and the lines that continue it in another message. */
interface Fence {
  /** The line that reopens it: the same marker and info string, without the list marker. */
  readonly header: string;
  readonly closing: string;
  /** The length of the longest line that may close it: its own, when that is longer than `closing`. */
  readonly closingRoom: number;
  /** The prefix for the rest of a code line that was cut in its middle: the quote marks, if any. */
  readonly continuation: string;
}

type LineKind = 'blank' | 'text' | 'open' | 'code' | 'close';

interface Line {
  readonly start: number;
  /** Without the line break. */
  readonly end: number;
  /** Without white space at the end. */
  readonly contentEnd: number;
  readonly kind: LineKind;
  /** Of `open`, `code` and `close` lines. */
  readonly fence?: Fence;
  /** For `open`: the end of the marker, which must stay whole. */
  readonly markerEnd?: number;
}

interface OpenFence extends Fence {
  readonly mark: string;
  closingRoom: number;
  readonly indent: number;
  readonly quotes: number;
}

const OPENING = /^((?:[ \t]*(?:>|(?:[-*+]|\d{1,9}[.)])(?=[ \t]))){0,16}[ \t]*)(`{3,}(?=[^`]*$)|~{3,})(.*)$/s;
const LIST_MARKER = /[-*+]|\d{1,9}[.)]/g;
const CLOSING_MAX_INDENT = 3;

/**
 * Finds the lines of a Markdown text and its code fences, as in CommonMark, except for a fence in a list, where Discord is more lenient: the fence lasts until
 * its closing line, whatever the indentation of that line. A fence in a quote ends with the quote. A fence that leaves no space for code within `limit` is
 * treated as plain text.
 */
function scanLines(text: string, limit: number): readonly Line[] {
  const lines: Line[] = [];
  let open: OpenFence | undefined;
  for (let start = 0; start <= text.length; ) {
    const lineBreak = text.indexOf('\n', start);
    const end = lineBreak === -1 ? text.length : lineBreak;
    const content = text.slice(start, end);
    const place = { start, end, contentEnd: start + content.trimEnd().length };
    const inside = open && withoutQuotes(content, open.quotes);
    if (open !== undefined && inside !== undefined) {
      const kind = isClosing(inside, open) ? 'close' : 'code';
      lines.push({ ...place, kind, fence: open });
      if (kind === 'close') {
        open.closingRoom = Math.max(open.closingRoom, Math.min(place.contentEnd - start, Math.floor(limit / 4)));
        open = undefined;
      }
    } else {
      open = openingOf(content, limit);
      lines.push(open === undefined ? plainLine(place) : openingLine(place, content, open));
    }
    start = end + 1;
  }
  return lines;
}

type LinePlace = Pick<Line, 'start' | 'end' | 'contentEnd'>;

function plainLine(place: LinePlace): Line {
  return { ...place, kind: place.contentEnd === place.start ? 'blank' : 'text' };
}

function openingLine(place: LinePlace, content: string, fence: OpenFence): Line {
  const markerEnd = place.start + content.indexOf(fence.mark) + fence.mark.length;
  return { ...place, kind: 'open', fence, markerEnd };
}

function openingOf(line: string, limit: number): OpenFence | undefined {
  const match = OPENING.exec(line);
  const [, prefix, marker, info] = match ?? [];
  if (prefix === undefined || marker === undefined || info === undefined) return undefined;
  const indentation = prefix.replace(LIST_MARKER, (listMarker) => ' '.repeat(listMarker.length));
  const quotes = countOf(prefix, '>');
  const closing = indentation + marker;
  const continuation = quotes > 0 ? indentation : '';
  const room = (header: string): number => limit - header.length - closing.length - continuation.length - 2;
  const full = indentation + marker + info.trimEnd();
  const header = room(full) >= limit / 3 ? full : closing;
  if (room(header) < 2) return undefined;
  const indent = widthOf(indentation.slice(indentation.lastIndexOf('>') + 1));
  return { header, closing, closingRoom: closing.length, continuation, mark: marker, indent, quotes };
}

function isClosing(inside: string, fence: OpenFence): boolean {
  const content = inside.trim();
  const mark = fence.mark.charAt(0);
  if (content.length < fence.mark.length || countOf(content, mark) !== content.length) return false;
  return widthOf(inside.slice(0, inside.indexOf(mark))) <= fence.indent + CLOSING_MAX_INDENT;
}

/** The text after `depth` quote marks; `undefined` when the line has fewer. */
function withoutQuotes(line: string, depth: number): string | undefined {
  let at = 0;
  for (let found = 0; found < depth; found += 1) {
    while (line[at] === ' ' || line[at] === '\t') at += 1;
    if (line[at] !== '>') return undefined;
    at += 1;
  }
  return line.slice(at);
}

function countOf(text: string, character: string): number {
  let count = 0;
  for (const each of text) if (each === character) count += 1;
  return count;
}

function widthOf(indentation: string): number {
  return indentation.length + 3 * countOf(indentation, '\t');
}
