import { createHash } from 'node:crypto';
import { createWriteStream } from 'node:fs';
import { get as getPlain, type IncomingMessage } from 'node:http';
import { get as getSecure } from 'node:https';
import { Transform } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { isPublicAddress, literalAddressOf, notPublic, publicLookup, t, UserError } from '@cinnabar/sdk';
import { tooLarge } from './files.js';

export interface Downloads {
  /** Downloads a text. @throws UserError when it does not exist, or is larger than `mostBytes` */
  text(url: URL, options: { readonly mostBytes: number; readonly accept?: string }): Promise<string>;
  /** Writes to a new file, and returns its size and integrity. */
  file(
    url: URL,
    path: string,
    options: { readonly mostBytes: number },
  ): Promise<{ readonly sha512: string; readonly sha1: string }>;
}

interface DownloadOptions {
  /**
   * Origins that the bot's owner has configured: they may be anywhere. All others, including redirects from these, must be https and on the public internet.
   */
  readonly trusted: ReadonlySet<string>;
  /** Additional headers for this address: credentials of a registry. */
  readonly headersOf?: (url: URL) => Readonly<Record<string, string>>;
  readonly signal?: AbortSignal | undefined;
}

const MOST_REDIRECTS = 5;
const SILENCE_MS = 30_000;
const LOOPBACK = /^(?:127\.\d+\.\d+\.\d+|\[::1\]|localhost)$/;

/** Downloads the files of plugins. Size limits are checked while reading, not by the size that a server announces. */
export function createDownloads({ trusted, headersOf = () => ({}), signal }: DownloadOptions): Downloads {
  const open = async (given: URL, accept: string): Promise<IncomingMessage> => {
    let url = given;
    let isAsNamed = true;
    for (let hops = 0; hops <= MOST_REDIRECTS; hops += 1) {
      // A redirect to another server loses both the configured trust and the credentials.
      isAsNamed &&= url.origin === given.origin;
      const isTrusted = isAsNamed && trusted.has(url.origin);
      assertMayBeFetched(url, isTrusted);
      const credentials = isAsNamed ? headersOf(url) : {};
      const response = await request(url, { isTrusted, headers: { ...credentials, accept }, signal });
      const { statusCode = 0, headers } = response;
      if (statusCode === 200) return response;
      response.resume();
      if (statusCode < 300 || statusCode >= 400 || headers.location === undefined) throw refusal(url, statusCode);
      if (!URL.canParse(headers.location, url.href))
        throw new UserError(t('{host} redirects to something that is not an address.', { host: url.host }));
      url = new URL(headers.location, url);
    }
    throw new UserError(t('{host} redirects too many times.', { host: given.host }));
  };

  return {
    async text(url, { mostBytes, accept = 'application/json' }) {
      const response = await open(url, accept);
      const chunks: Buffer[] = [];
      await reading(
        url,
        pipeline(
          response,
          limit(url, mostBytes, (chunk) => chunks.push(chunk)),
        ),
      );
      return Buffer.concat(chunks).toString('utf8');
    },
    async file(url, path, { mostBytes }) {
      const response = await open(url, 'application/octet-stream, */*');
      const [sha512, sha1] = [createHash('sha512'), createHash('sha1')];
      const hash = (chunk: Buffer) => {
        sha512.update(chunk);
        sha1.update(chunk);
      };
      await reading(
        url,
        pipeline(response, limit(url, mostBytes, hash), createWriteStream(path, { flags: 'wx', mode: 0o600 })),
      );
      return { sha512: sha512.digest('base64'), sha1: sha1.digest('hex') };
    },
  };
}

function assertMayBeFetched(url: URL, isTrusted: boolean): void {
  if (url.username !== '' || url.password !== '')
    throw new UserError(t('Addresses with a user name or password are not fetched.'));
  const isPlainAllowed = isTrusted && LOOPBACK.test(url.hostname);
  if (url.protocol !== 'https:' && !(url.protocol === 'http:' && isPlainAllowed))
    throw new UserError(t('{address} is not fetched: only https is.', { address: url.href }));
  const literal = literalAddressOf(url);
  if (!isTrusted && literal !== undefined && !isPublicAddress(literal)) throw notPublic(url.hostname);
}

function request(
  url: URL,
  {
    isTrusted,
    headers,
    signal,
  }: { isTrusted: boolean; headers: Readonly<Record<string, string>>; signal: AbortSignal | undefined },
): Promise<IncomingMessage> {
  const options = {
    headers: { 'user-agent': 'Cinnabar (Discord bot; installs a plugin)', ...headers },
    // A connection for each request, since an open one would keep the process alive.
    agent: false,
    timeout: SILENCE_MS,
    ...(signal === undefined ? {} : { signal }),
    ...(isTrusted ? {} : { lookup: publicLookup() }),
  } as const;
  return new Promise((resolve, reject) => {
    const sent = url.protocol === 'https:' ? getSecure(url, options, resolve) : getPlain(url, options, resolve);
    sent.on('timeout', () =>
      sent.destroy(
        new UserError(t('{host} did not answer for {seconds} s.', { host: url.host, seconds: SILENCE_MS / 1000 })),
      ),
    );
    sent.on('error', (error) => reject(error instanceof UserError ? error : unreachable(url, error)));
  });
}

/** A stream that passes on its input. @param take is called with every chunk @throws UserError above the limit */
function limit(url: URL, mostBytes: number, take: (chunk: Buffer) => void): Transform {
  let size = 0;
  return new Transform({
    transform(chunk: Buffer, _, done) {
      size += chunk.length;
      if (size > mostBytes) return done(tooLarge(url.host, mostBytes));
      take(chunk);
      return done(null, chunk);
    },
  }).resume();
}

async function reading(url: URL, done: Promise<void>): Promise<void> {
  try {
    await done;
  } catch (error) {
    throw error instanceof UserError ? error : unreachable(url, error);
  }
}

function refusal({ host, pathname }: URL, status: number): UserError {
  return status === 404
    ? new NotThere(t('{host} has no {path}.', { host, path: readable(pathname) }))
    : new UserError(t('{host} answered with the status {status}.', { host, status }));
}

function readable(path: string): string {
  try {
    return decodeURIComponent(path);
  } catch {
    return path;
  }
}

/** The file does not exist at this address. */
export class NotThere extends UserError {}

function unreachable({ host }: URL, cause: unknown): UserError {
  const detail = cause instanceof Error ? cause.message : String(cause);
  return new UserError(t('{host} cannot be reached: {detail}', { host, detail }), { cause });
}
