import { inflateSync } from 'node:zlib';
import { UserError } from '@cinnabar/sdk/worker';

const SIGNATURE = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);
/** The newer format first: an image may carry both. */
const KEYWORDS = ['ccv3', 'chara'];
const BROKEN = 'This image is damaged: its parts are not as long as they say.';

export function isPng(bytes: Buffer): boolean {
  return bytes.subarray(0, SIGNATURE.length).equals(SIGNATURE);
}

/**
 * The text of a character card in a PNG image, as it is embedded: base64. Only chunks of the two keywords are looked into.
 * @param mostBytes how long the text may be, also when it was compressed
 * @throws UserError when there is none, the image is damaged, or the text is too long
 */
export function cardTextIn(png: Buffer, mostBytes: number): string {
  const found = textChunks(png);
  const chunk = KEYWORDS.map((keyword) => found.get(keyword)).find((one) => one !== undefined);
  if (chunk === undefined) throw new UserError('There is no character card in this image.');
  return READERS[chunk.type](chunk.rest, mostBytes);
}

interface TextChunk {
  readonly type: keyof typeof READERS;
  /** What follows the keyword, as it stands in the file. */
  readonly rest: Buffer;
}

/** The first chunk of each keyword. Nothing is unpacked here: thousands of packed chunks would take minutes. */
function textChunks(png: Buffer): ReadonlyMap<string, TextChunk> {
  const found = new Map<string, TextChunk>();
  let at = SIGNATURE.length;
  while (at + 12 <= png.length) {
    const length = png.readUInt32BE(at);
    const type = png.toString('latin1', at + 4, at + 8);
    const end = at + 8 + length;
    if (end + 4 > png.length) throw new UserError(BROKEN);
    if (isText(type)) {
      const [keyword, rest] = untilZero(png.subarray(at + 8, end));
      if (KEYWORDS.includes(keyword) && !found.has(keyword)) found.set(keyword, { type, rest });
    }
    if (type === 'IEND') break;
    at = end + 4;
  }
  return found;
}

/** The three kinds of text chunk: https://www.w3.org/TR/png-3/#11textinfo */
const READERS = {
  tEXt: (rest: Buffer, mostBytes: number) => limited(rest, mostBytes).toString('latin1'),
  zTXt: (rest: Buffer, mostBytes: number) => inflate(rest.subarray(1), mostBytes).toString('latin1'),
  iTXt(rest: Buffer, mostBytes: number) {
    const isCompressed = rest[0] === 1;
    const [, afterLanguage] = untilZero(rest.subarray(2));
    const [, text] = untilZero(afterLanguage);
    return (isCompressed ? inflate(text, mostBytes) : limited(text, mostBytes)).toString('utf8');
  },
} as const;

const isText = (type: string): type is keyof typeof READERS => Object.hasOwn(READERS, type);

function untilZero(data: Buffer): readonly [string, Buffer] {
  const zero = data.indexOf(0);
  return zero < 0 ? ['', data.subarray(data.length)] : [data.toString('latin1', 0, zero), data.subarray(zero + 1)];
}

function limited(data: Buffer, mostBytes: number): Buffer {
  if (data.length > mostBytes) throw tooLong(mostBytes);
  return data;
}

/** Stops at the limit: a few bytes may unfold to gigabytes. */
function inflate(data: Buffer, mostBytes: number): Buffer {
  try {
    return inflateSync(data, { maxOutputLength: mostBytes });
  } catch (error) {
    const isLong = error instanceof RangeError && 'code' in error && error.code === 'ERR_BUFFER_TOO_LARGE';
    throw isLong ? tooLong(mostBytes) : new UserError('The character card in this image cannot be unpacked.');
  }
}

function tooLong(mostBytes: number): UserError {
  return new UserError(`The character card in this image is longer than ${Math.round(mostBytes / 1024)} KB.`);
}
