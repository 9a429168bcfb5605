/** Longest piece of a name, so that suffixes and temporary names still fit the 255 bytes of common file systems. */
const PIECE = 100;
/** Marks a folder that holds the rest of a long name. Never part of an encoded name. */
const CONTINUED = '+';
/** Windows gives these to devices, whatever the extension. */
const DEVICE = /^(?:con|prn|aux|nul|com\d|lpt\d)$/;

const utf8 = new TextEncoder();
const decoder = new TextDecoder('utf-8', { fatal: true });

function escapeByte(byte: number): string {
  return `%${byte.toString(16).padStart(2, '0')}`;
}

function escapeText(text: string): string {
  return Array.from(utf8.encode(text), (byte) => {
    const character = String.fromCharCode(byte);
    return /[a-z0-9_-]/.test(character) ? character : escapeByte(byte);
  }).join('');
}

/**
 * One segment of a document path as file names: lower case letters, digits, `_`, `-` and `%xx` of the UTF-8 bytes, so no traversal, nothing that
 * a case-insensitive or Unicode-normalising file system would merge, and no dot, which separates a name from its suffix. A long segment becomes
 * folders ending in `+` and a last piece.
 */
export function encodeSegment(segment: string): readonly string[] {
  const encoded = escapeText(segment);
  const pieces: string[] = [];
  for (let at = 0; at < encoded.length; at += PIECE) pieces.push(encoded.slice(at, at + PIECE));
  const last = pieces.pop() ?? '';
  const safe = DEVICE.test(last) ? `${escapeByte(last.charCodeAt(0))}${last.slice(1)}` : last;
  return [...pieces.map((piece) => `${piece}${CONTINUED}`), safe];
}

/** The segment of which these are the file names; `undefined` when they are not of this driver's making. */
export function decodeSegment(pieces: readonly string[]): string | undefined {
  const encoded = pieces.map((piece, index) => (index < pieces.length - 1 ? piece.slice(0, -1) : piece)).join('');
  if (!/^(?:[a-z0-9_-]|%[0-9a-f]{2})+$/.test(encoded)) return undefined;
  const bytes = Uint8Array.from(encoded.match(/%..|./g) ?? [], (unit) =>
    unit.length === 3 ? Number.parseInt(unit.slice(1), 16) : unit.charCodeAt(0),
  );
  let segment: string;
  try {
    segment = decoder.decode(bytes);
  } catch {
    return undefined;
  }
  const own = encodeSegment(segment);
  return own.length === pieces.length && own.every((piece, index) => piece === pieces[index]) ? segment : undefined;
}

/** Whether a folder name is a piece of a long segment, to be continued inside. */
export function isContinued(name: string): boolean {
  return name.endsWith(CONTINUED);
}
