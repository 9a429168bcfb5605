import { request } from 'node:https';
import { isPublicAddress, linkSignals, literalAddressOf, publicLookup, t, UserError } from '@cinnabar/sdk';

/** Below Discord's limit for avatars, and enough for one. */
const MOST_BYTES = 2 * 1024 * 1024;
const LONGEST_MS = 10_000;
const TYPES: readonly string[] = ['image/png', 'image/jpeg', 'image/gif', 'image/webp'];

/**
 * An image for Discord, from a data URI or an https address on the public internet. Redirects are not followed, and every address that a
 * name stands for is checked at the moment of the connection, so that nothing inside our own network can be asked.
 * @throws UserError
 */
export async function fetchImage(source: string, signal: AbortSignal): Promise<Buffer> {
  const inline = /^data:([a-z]+\/[a-z0-9.+-]+);base64,([a-z0-9+/=\s]+)$/i.exec(source.trim());
  if (inline !== null) return inlineImage(inline[1] ?? '', inline[2] ?? '');
  const url = readHttpsUrl(source);
  const bounded = linkSignals(signal, AbortSignal.timeout(LONGEST_MS));
  try {
    return await download(url, bounded.signal);
  } finally {
    bounded.release();
  }
}

const notAnImage = () => new UserError(t('The avatar has to be a PNG, JPEG, GIF or WebP image.'));
const outOfReach = () => new UserError(t('The avatar could not be fetched from there.'));
const tooLarge = () => new UserError(t('The avatar is too large: 2 MB at most.'));

/** An address of the public internet that may be shown or handed on. @throws UserError */
export function readHttpsUrl(text: string): URL {
  const url = URL.canParse(text.trim()) ? new URL(text.trim()) : undefined;
  if (url?.protocol !== 'https:' || url.username !== '' || url.password !== '') {
    throw new UserError(t('An image is given as an https:// address.'));
  }
  const literal = literalAddressOf(url);
  if (literal !== undefined && !isPublicAddress(literal)) throw outOfReach();
  return url;
}

function inlineImage(type: string, data: string): Buffer {
  if (!TYPES.includes(type.toLowerCase())) throw notAnImage();
  const image = Buffer.from(data, 'base64');
  if (image.byteLength > MOST_BYTES) throw tooLarge();
  return image;
}

function download(url: URL, signal: AbortSignal): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const asking = request(url, { lookup: publicLookup(), signal, agent: false }, (response) => {
      const type = response.headers['content-type']?.split(';')[0]?.trim().toLowerCase() ?? '';
      const refuse = (refusal: UserError) => {
        response.destroy();
        reject(refusal);
      };
      if (response.statusCode !== 200) return refuse(outOfReach());
      if (!TYPES.includes(type)) return refuse(notAnImage());
      const chunks: Buffer[] = [];
      let bytes = 0;
      response.on('data', (chunk: Buffer) => {
        bytes += chunk.byteLength;
        if (bytes > MOST_BYTES) refuse(tooLarge());
        else chunks.push(chunk);
      });
      response.on('end', () => resolve(Buffer.concat(chunks)));
      response.on('error', () => reject(outOfReach()));
      return undefined;
    });
    asking.on('error', () => reject(outOfReach()));
    asking.end();
  });
}
