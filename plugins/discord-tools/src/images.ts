import { lookup } from 'node:dns';
import { request } from 'node:https';
import { BlockList, isIP, type LookupFunction } from 'node:net';
import { linkSignals, UserError } from '@cinnabar/sdk';

/** Below Discord's limit for avatars, and enough for one. */
const MOST_BYTES = 2 * 1024 * 1024;
const LONGEST_MS = 10_000;
const TYPES: readonly string[] = ['image/png', 'image/jpeg', 'image/gif', 'image/webp'];
const NOT_AN_IMAGE = 'The avatar has to be a PNG, JPEG, GIF or WebP image.';
const OUT_OF_REACH = 'The avatar could not be fetched from there.';

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

/** An address of the public internet that may be shown or handed on. @throws UserError */
export function readHttpsUrl(text: string): URL {
  const url = URL.canParse(text.trim()) ? new URL(text.trim()) : undefined;
  if (url?.protocol !== 'https:' || url.username !== '' || url.password !== '') {
    throw new UserError('An image is given as an https:// address.');
  }
  const host = url.hostname.replace(/^\[|\]$/g, '');
  if (isIP(host) !== 0 && !isPublicAddress(host)) throw new UserError(OUT_OF_REACH);
  return url;
}

function inlineImage(type: string, data: string): Buffer {
  if (!TYPES.includes(type.toLowerCase())) throw new UserError(NOT_AN_IMAGE);
  const image = Buffer.from(data, 'base64');
  if (image.byteLength > MOST_BYTES) throw new UserError('The avatar is too large: 2 MB at most.');
  return image;
}

function download(url: URL, signal: AbortSignal): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const asking = request(url, { lookup: publicOnly, signal, agent: false }, (response) => {
      const type = response.headers['content-type']?.split(';')[0]?.trim().toLowerCase() ?? '';
      const refuse = (sentence: string) => {
        response.destroy();
        reject(new UserError(sentence));
      };
      if (response.statusCode !== 200) return refuse(OUT_OF_REACH);
      if (!TYPES.includes(type)) return refuse(NOT_AN_IMAGE);
      const chunks: Buffer[] = [];
      let bytes = 0;
      response.on('data', (chunk: Buffer) => {
        bytes += chunk.byteLength;
        if (bytes > MOST_BYTES) refuse('The avatar is too large: 2 MB at most.');
        else chunks.push(chunk);
      });
      response.on('end', () => resolve(Buffer.concat(chunks)));
      response.on('error', () => reject(new UserError(OUT_OF_REACH)));
      return undefined;
    });
    asking.on('error', () => reject(new UserError(OUT_OF_REACH)));
    asking.end();
  });
}

/** Looks names up, and refuses those that stand for any address that is not public. */
const publicOnly: LookupFunction = (hostname, options, callback) => {
  lookup(hostname, { ...options, all: true }, (error, addresses) => {
    if (error !== null) return callback(error, []);
    if (addresses.length === 0 || !addresses.every(({ address }) => isPublicAddress(address))) {
      return callback(new Error(`${hostname} is not on the public internet`), []);
    }
    const [first] = addresses;
    return options.all === true ? callback(null, addresses) : callback(null, first?.address ?? '', first?.family);
  });
};

/** Addresses that do not belong to the public internet: https://www.iana.org/assignments/iana-ipv4-special-registry and -ipv6-. */
const PRIVATE = new BlockList();
for (const [network, prefix] of [
  ['0.0.0.0', 8],
  ['10.0.0.0', 8],
  ['100.64.0.0', 10],
  ['127.0.0.0', 8],
  ['169.254.0.0', 16],
  ['172.16.0.0', 12],
  ['192.0.0.0', 24],
  ['192.0.2.0', 24],
  ['192.88.99.0', 24],
  ['192.168.0.0', 16],
  ['198.18.0.0', 15],
  ['198.51.100.0', 24],
  ['203.0.113.0', 24],
  ['224.0.0.0', 3],
] as const) {
  PRIVATE.addSubnet(network, prefix, 'ipv4');
}

/** Only these IPv6 addresses are given out to the public; those within that lead elsewhere are taken out below. */
const PUBLIC_6 = new BlockList();
PUBLIC_6.addSubnet('2000::', 3, 'ipv6');
const ELSEWHERE_6 = new BlockList();
for (const [network, prefix] of [
  ['2001::', 23],
  ['2001:db8::', 32],
  ['2002::', 16],
  ['3fff::', 20],
] as const) {
  ELSEWHERE_6.addSubnet(network, prefix, 'ipv6');
}

/** Whether an IP address is one of the public internet. Anything that is not an address is not. */
function isPublicAddress(address: string): boolean {
  const family = isIP(address);
  if (family === 4) return !PRIVATE.check(address, 'ipv4');
  return family === 6 && PUBLIC_6.check(address, 'ipv6') && !ELSEWHERE_6.check(address, 'ipv6');
}
