import type { IncomingHttpHeaders } from 'node:http';
import type { Readable } from 'node:stream';
import { TextDecoder } from 'node:util';
import { createBrotliDecompress, createGunzip, createInflate } from 'node:zlib';
import {
  CinnabarError,
  type Clock,
  createDeadline,
  isPublicAddress,
  literalAddressOf,
  notPublic,
  publicLookup,
  type ResolveName,
  t,
  UserError,
  type WorkerRunOptions,
} from '@cinnabar/sdk';
import { Agent, request } from 'undici';

export interface WebPage {
  /** The final address, after redirects. */
  readonly url: string;
  readonly contentType: string;
  readonly text: string;
}

interface UrlRules {
  /** Allowed ports in addition to those of http and https. */
  readonly ports: readonly number[];
  /** By default `isPublicAddress`. */
  readonly isPublic?: (address: string) => boolean;
}

interface WebReaderOptions extends UrlRules {
  /** By default the system's resolver. */
  readonly resolve?: ResolveName;
  readonly clock: Clock;
  /** Runs in a worker. */
  readonly htmlToText: (html: string, options: WorkerRunOptions) => Promise<string>;
  readonly mostBytes: number;
  /** Limit of the whole fetch: name resolution, redirects and the body. */
  readonly timeoutMs: number;
}

export interface WebReader {
  /**
   * @param group the guild or member: different groups take turns
   * @throws UserError with the reason why the page was not fetched
   */
  read(url: string, signal: AbortSignal, group: string): Promise<WebPage>;
  close(): Promise<void>;
}

const MOST_REDIRECTS = 5;
const REDIRECTS = new Set([301, 302, 303, 307, 308]);

/** Fetches pages for models: from public addresses only, checked again at every redirect and at the connection itself. */
export function createWebReader(parts: WebReaderOptions): WebReader {
  const { clock, htmlToText, mostBytes, timeoutMs } = parts;
  const agent = new Agent({
    connect: { lookup: publicLookup(parts), timeout: timeoutMs },
    // Each request has its own connection, whose address is checked.
    pipelining: 0,
    maxHeaderSize: 16 * 1024,
  });

  const get = (url: URL, signal: AbortSignal) =>
    request(url, {
      dispatcher: agent,
      signal,
      headers: {
        accept: 'text/html, text/plain, application/json;q=0.9, */*;q=0.1',
        'accept-encoding': ACCEPTED_ENCODINGS,
        'user-agent': 'Cinnabar (Discord bot; reads a page that somebody asked for)',
      },
    });

  /** @throws UserError for a body that must not be read; this closes the connection */
  const checkHead = (statusCode: number, headers: IncomingHttpHeaders, body: Readable): PageType => {
    try {
      if (statusCode !== 200)
        throw new UserError(t('The page was answered with the status {status}.', { status: statusCode }));
      const type = readContentType(one(headers['content-type']));
      if (!(Number(one(headers['content-length'])) > mostBytes)) return type;
      throw new UserError(t('The page is larger than {size} KB.', { size: Math.round(mostBytes / 1024) }));
    } catch (error) {
      letGo(body);
      throw error;
    }
  };

  const follow = async (given: string, signal: AbortSignal, group: string): Promise<WebPage> => {
    let url = checkUrl(given, parts);
    for (let hops = 0; hops <= MOST_REDIRECTS; hops += 1) {
      const { statusCode, headers, body } = await get(url, signal);
      const location = one(headers.location);
      if (REDIRECTS.has(statusCode) && location !== '') {
        letGo(body);
        if (!URL.canParse(location, url.href))
          throw new UserError(t('The page redirects to something that is not an address.'));
        url = checkUrl(new URL(location, url).href, parts);
        continue;
      }
      const contentType = one(headers['content-type']);
      const type = checkHead(statusCode, headers, body);
      const bytes = await readBody(body, one(headers['content-encoding']), mostBytes);
      const text = decode(bytes, type.charset);
      return { url: url.href, contentType, text: type.isHtml ? await htmlToText(text, { group, signal }) : text };
    }
    throw new UserError(t('The page redirects more than {count} times.', { count: MOST_REDIRECTS }));
  };

  return {
    async read(url, signal, group) {
      const deadline = createDeadline(clock, timeoutMs, [signal]);
      try {
        return await follow(url, deadline.signal, group);
      } catch (error) {
        if (signal.aborted) throw new UserError(t('It was stopped before the page was read.'), { cause: error });
        if (deadline.isUp) {
          throw new UserError(t('The page took longer than {seconds} s.', { seconds: timeoutMs / 1000 }), {
            cause: error,
          });
        }
        if (error instanceof CinnabarError) throw error;
        throw userErrorIn(error) ?? new UserError(t('The page could not be reached.'), { cause: error });
      } finally {
        deadline.end();
      }
    },
    close: () => agent.destroy(),
  };
}

const one = (header: string | string[] | undefined): string => (Array.isArray(header) ? header[0] : header) ?? '';

/** The UserError of a refused look-up, which undici wraps in a connection error. */
function userErrorIn(error: unknown): UserError | undefined {
  if (error instanceof UserError) return error;
  if (error instanceof AggregateError) return error.errors.map(userErrorIn).find((found) => found !== undefined);
  return error instanceof Error && error.cause !== undefined ? userErrorIn(error.cause) : undefined;
}

const DECODERS: Readonly<Record<string, () => NodeJS.ReadWriteStream>> = {
  gzip: createGunzip,
  'x-gzip': createGunzip,
  deflate: createInflate,
  br: createBrotliDecompress,
};

const ACCEPTED_ENCODINGS = 'gzip, deflate, br';

/**
 * Reads a body of at most `mostBytes`, before and after decompression: decompression stops at the limit.
 * @throws UserError for a larger body, or one that cannot be decompressed
 */
export async function readBody(body: Readable, encoding: string, mostBytes: number): Promise<Buffer> {
  const steps = encoding.split(',').map((step) => step.trim().toLowerCase());
  const packed = steps.filter((step) => step !== '' && step !== 'identity');
  // A body that is compressed twice is more likely a decompression bomb than a page.
  const make = packed.length <= 1 ? DECODERS[packed[0] ?? ''] : undefined;
  if (packed.length > 0 && make === undefined) {
    letGo(body);
    throw new UserError(t('The page is packed in a way that is not read: {encoding}.', { encoding }));
  }
  const decoder = make?.();
  if (decoder !== undefined) {
    body.once('error', () => decoder.emit('error', new Error('the connection was cut')));
    body.pipe(decoder);
  }
  const source = decoder ?? body;
  const chunks: Buffer[] = [];
  let size = 0;
  try {
    for await (const chunk of source) {
      const bytes = Buffer.from(chunk);
      size += bytes.length;
      if (size > mostBytes)
        throw new UserError(t('The page is larger than {size} KB.', { size: Math.round(mostBytes / 1024) }));
      chunks.push(bytes);
    }
  } catch (error) {
    if (error instanceof UserError) throw error;
    throw new UserError(t('The page could not be read to its end.'), { cause: error });
  } finally {
    letGo(body);
  }
  return Buffer.concat(chunks);
}

/** Destroys a body that is not read. Its connection reports this as an abort, which would otherwise be logged as an error. */
export function letGo(body: Readable): void {
  body.on('error', () => undefined);
  body.destroy();
}

const HTML = /^(text\/html|application\/xhtml\+xml)$/;
const PLAIN = /^(text\/[\w.+-]+|application\/([\w.+-]+\+)?(json|xml)|application\/(yaml|x-yaml|toml|ld\+json))$/;

interface PageType {
  readonly isHtml: boolean;
  readonly charset: string;
}

/** @throws UserError for content that is not text, before any of it is read */
function readContentType(contentType: string): PageType {
  const [type = '', ...parameters] = contentType.split(';').map((part) => part.trim().toLowerCase());
  const charset = parameters.find((parameter) => parameter.startsWith('charset='))?.slice('charset='.length) ?? 'utf-8';
  const isHtml = HTML.test(type);
  if (!isHtml && !PLAIN.test(type)) {
    throw new UserError(
      type === ''
        ? t('Only text is read, and this is of no known kind.')
        : t('Only text is read, and this is {type}.', { type }),
    );
  }
  return { isHtml, charset: charset.replaceAll('"', '') };
}

export function decode(bytes: Uint8Array, charset: string): string {
  return decoderFor(charset).decode(bytes);
}

function decoderFor(charset: string): TextDecoder {
  try {
    return new TextDecoder(charset);
  } catch {
    return new TextDecoder();
  }
}

const LONGEST_URL = 2_000;

/**
 * Checks an address from a model or a page. The IP addresses of a host name are checked when it is resolved.
 * @throws UserError with the reason why it is not fetched
 */
function checkUrl(text: string, { ports, isPublic = isPublicAddress }: UrlRules): URL {
  if (text.length > LONGEST_URL)
    throw new UserError(t('The address is longer than {count} characters.', { count: LONGEST_URL }));
  if (!URL.canParse(text)) throw new UserError(t('That is not a complete address, such as https://example.org/page.'));
  const url = new URL(text);
  if (url.protocol !== 'https:' && url.protocol !== 'http:') {
    throw new UserError(t('Only http and https addresses are fetched, not {protocol}', { protocol: url.protocol }));
  }
  if (url.username !== '' || url.password !== '') {
    throw new UserError(t('Addresses with a user name or password are not fetched.'));
  }
  if (url.port !== '' && !ports.includes(Number(url.port)))
    throw new UserError(t('Port {port} is not fetched.', { port: url.port }));
  // The URL parser has already normalized decimal, octal and short forms.
  const literal = literalAddressOf(url);
  if (literal === undefined ? isLocalName(url.hostname) : !isPublic(literal)) throw notPublic(url.hostname);
  return url;
}

/** Names that no public resolver knows, but a private one may. https://www.rfc-editor.org/rfc/rfc6761 */
const LOCAL =
  /(^|\.)(localhost|local|internal|intranet|lan|home|corp|private|home\.arpa|localdomain|onion|test|invalid)\.?$/i;

function isLocalName(hostname: string): boolean {
  return LOCAL.test(hostname) || !hostname.replace(/\.$/, '').includes('.');
}
