import { UserError, z } from '@cinnabar/sdk/worker';
import { cardTextIn, isPng } from './png.js';
import { type Card, cardSchema } from './schema.js';

/** A card of that size as an image; pictures may be large. */
export const MOST_FILE_BYTES = 8 * 1024 * 1024;
/** The card itself, unpacked. */
const MOST_CARD_BYTES = 2 * 1024 * 1024;

/**
 * Reads a character card: JSON, or a PNG image that carries it. Everything in it is somebody's text, and stays that.
 * @throws UserError saying what is wrong with it
 */
export function readCard(bytes: Buffer): Card {
  if (bytes.length > MOST_FILE_BYTES) throw new UserError('This file is too large for a character card.');
  const json = isPng(bytes)
    ? unwrap(cardTextIn(bytes, Math.ceil((MOST_CARD_BYTES * 4) / 3) + 4))
    : bytes.toString('utf8');
  if (Buffer.byteLength(json) > MOST_CARD_BYTES) {
    throw new UserError(`This character card is longer than ${MOST_CARD_BYTES / 1024} KB.`);
  }
  const parsed = cardSchema.safeParse(parse(json));
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  const where =
    issue === undefined || issue.path.length === 0 ? '' : `${issue.path.map(String).join('.').slice(0, 80)}: `;
  const what =
    where.startsWith('spec') || where === ''
      ? 'expected a card of format V2 or V3'
      : (issue?.message ?? z.prettifyError(parsed.error));
  throw new UserError(`This is no character card that I can read. ${where}${what}`);
}

/** In images the JSON stands in base64; some tools leave that out. */
function unwrap(text: string): string {
  return text.trimStart().startsWith('{') ? text : Buffer.from(text, 'base64').toString('utf8');
}

function parse(json: string): unknown {
  try {
    return JSON.parse(json.replace(/^\uFEFF/, ''));
  } catch {
    throw new UserError('This is no character card that I can read: it is neither JSON nor an image with JSON in it.');
  }
}
