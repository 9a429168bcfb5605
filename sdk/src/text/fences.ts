/** A fenced code block, and what continues it in another message. */
export interface Fence {
  /** Reopens it: the same marker and info string, without the list marker. */
  readonly header: string;
  readonly closing: string;
  /** The length of the longest line that may close it: its own, when that is longer than `closing`. */
  readonly closingRoom: number;
  /** What a code line that was cut in its middle needs before its rest: the quote marks, if any. */
  readonly continuation: string;
}

export type LineKind = 'blank' | 'text' | 'open' | 'code' | 'close';

export interface Line {
  readonly start: number;
  /** Without the line break. */
  readonly end: number;
  /** Without white space at the end. */
  readonly contentEnd: number;
  readonly kind: LineKind;
  /** Of `open`, `code` and `close` lines. */
  readonly fence?: Fence;
  /** For `open`: where the marker ends. It must stay whole. */
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
 * Finds the lines of a Markdown text and the code fences among them, as CommonMark has them, but as lenient as Discord with a
 * fence in a list: it lasts until its closing line, however far that is indented to the left. One in a quote ends with the quote.
 * A fence that leaves no room for code within `limit` is plain text.
 */
export function scanLines(text: string, limit: number): readonly Line[] {
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

/** What follows `depth` quote marks; `undefined` when the line has fewer. */
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
