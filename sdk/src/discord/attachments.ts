import type { Client } from 'discord.js';
import type { Clock } from '../clock.js';
import type { Logger } from '../observability.js';
import { withoutNotes } from '../text/untrusted.js';

const DISCORD: ReadonlySet<string> = new Set(['cdn.discordapp.com', 'media.discordapp.net']);
const LOOPBACK: ReadonlySet<string> = new Set(['127.0.0.1', '[::1]', 'localhost']);
/** Paths of files at a Discord-compatible server. */
const FILES = /^\/(?:cdn|attachments|ephemeral-attachments)\//;
/** Query parameters with a link's signature and its expiry: the same file gets new ones every day. */
const EXPIRING = ['ex', 'is', 'hm'];
/** Time before its expiry when a link is renewed: the download takes a while, and clocks differ. */
const MARGIN_MS = 60_000;
/** Discord's maximum number of links in one request: https://discord.com/developers/docs/reference#signed-attachment-cdn-urls */
const MOST_LINKS = 50;
const TIMEOUT_MS = 15_000;

export type Fetch = typeof globalThis.fetch;

/** Decides from which addresses attachments may be downloaded. */
export type MayFetch = (url: URL) => boolean;

/**
 * Discord's own hosts, over https; and the files of the server that stands in for Discord, when the REST base is not Discord's.
 * Plain http only on this machine.
 * @param api REST base in use: `client.options.rest.api`
 */
export function discordAddresses(api: string | undefined): MayFetch {
  const own = api === undefined || !URL.canParse(api) ? undefined : new URL(api);
  const standIn = own === undefined || /(?:^|\.)discord(?:app)?\.com$/.test(own.hostname) ? undefined : own;
  return (url) => {
    if (url.username !== '' || url.password !== '') return false;
    if (DISCORD.has(url.host)) return url.protocol === 'https:';
    if (standIn === undefined || url.origin !== standIn.origin || !FILES.test(url.pathname)) return false;
    return url.protocol === 'https:' || (url.protocol === 'http:' && LOOPBACK.has(url.hostname));
  };
}

/** The address of a file without its expiring signature, which identifies the file. */
export function lastingAddress(url: URL): string {
  const lasting = new URL(url);
  for (const parameter of EXPIRING) lasting.searchParams.delete(parameter);
  lasting.hash = '';
  return lasting.href;
}

/** A valid link to the same file; `undefined` when Discord returns none at the moment. Never throws. */
export type FreshLink = (url: URL) => Promise<URL | undefined>;

interface FreshLinksDependencies {
  /** `client.rest`. */
  readonly rest: { post(route: `/${string}`, options: { readonly body: unknown }): Promise<unknown> };
  readonly clock: Pick<Clock, 'now'>;
  readonly log: Logger;
}

/** Renews expired links of Discord's CDN (`POST /attachments/refresh-urls`). One request at a time; links needed meanwhile are combined in the next one. */
export function createFreshLinks({ rest, clock, log }: FreshLinksDependencies): FreshLink {
  const waiting = new Map<string, (link: URL | undefined) => void>();
  const promised = new Map<string, Promise<URL | undefined>>();
  let isAsking = false;

  const ask = async (addresses: readonly string[]): Promise<ReadonlyMap<string, URL>> => {
    try {
      return linksIn(await rest.post('/attachments/refresh-urls', { body: { attachment_urls: addresses } }));
    } catch (error) {
      log.debug('links to attachments could not be renewed', { links: addresses.length, error });
      return new Map();
    }
  };
  const askForAll = async () => {
    if (isAsking) return;
    isAsking = true;
    while (waiting.size > 0) {
      const batch = [...waiting].slice(0, MOST_LINKS);
      for (const [address] of batch) waiting.delete(address);
      const links = await ask(batch.map(([address]) => address));
      for (const [address, resolve] of batch) {
        promised.delete(address);
        resolve(links.get(lastingAddress(new URL(address))));
      }
    }
    isAsking = false;
  };

  return (url) => {
    if (expiryOf(url) > clock.now() + MARGIN_MS) return Promise.resolve(url);
    const link = promised.get(url.href) ?? new Promise<URL | undefined>((resolve) => waiting.set(url.href, resolve));
    promised.set(url.href, link);
    void askForAll();
    return link;
  };
}

/** When a link expires, in milliseconds since 1970; `Infinity` for links that are not signed. */
function expiryOf(url: URL): number {
  const seconds = Number.parseInt(url.searchParams.get('ex') ?? '', 16);
  return Number.isNaN(seconds) ? Number.POSITIVE_INFINITY : seconds * 1_000;
}

/** The renewed links of a response, by address without signature. */
function linksIn(answer: unknown): ReadonlyMap<string, URL> {
  const found = new Map<string, URL>();
  const listed = isRecord(answer) && Array.isArray(answer.refreshed_urls) ? answer.refreshed_urls : [];
  for (const one of listed) {
    if (!isRecord(one) || typeof one.original !== 'string' || typeof one.refreshed !== 'string') continue;
    if (!URL.canParse(one.original) || !URL.canParse(one.refreshed)) continue;
    found.set(lastingAddress(new URL(one.original)), new URL(one.refreshed));
  }
  return found;
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null;
}

/** Why a download failed. */
export type DownloadFailure =
  /** Permanent: the file is deleted, too large, or not on Discord's hosts. */
  | 'final'
  /** Temporary: a later download may succeed. */
  | 'passing';

export interface DownloadOptions {
  readonly mayFetch: MayFetch;
  /** Renews links that have expired. */
  readonly freshLink: FreshLink;
  readonly clock: Pick<Clock, 'after'>;
  readonly maxBytes: number;
  /** A larger file is cut at `maxBytes`, instead of failing. */
  readonly cut?: boolean;
  /** 15 s by default. */
  readonly timeoutMs?: number;
  readonly fetch?: Fetch;
  /** Aborts the download. */
  readonly signal?: AbortSignal | undefined;
}

/** Options for all downloads of a client's attachments. */
export function attachmentDownloads(
  client: Pick<Client, 'options' | 'rest'>,
  { clock, log, signal }: { readonly clock: Clock; readonly log: Logger; readonly signal: AbortSignal },
) {
  return {
    mayFetch: discordAddresses(client.options.rest?.api),
    freshLink: createFreshLinks({ rest: client.rest, clock, log }),
    clock,
    signal,
  } satisfies Partial<DownloadOptions>;
}

/** Downloads an attachment from Discord, also by an expired link. Redirects are not followed, since they could lead anywhere. Never throws. */
export async function downloadAttachment(url: URL, options: DownloadOptions): Promise<Buffer | DownloadFailure> {
  const { mayFetch, freshLink, clock, maxBytes, cut = false, timeoutMs = TIMEOUT_MS, signal } = options;
  const { fetch = globalThis.fetch } = options;
  if (!mayFetch(url)) return 'final';
  const controller = new AbortController();
  const abort = () => controller.abort();
  const cancel = clock.after(timeoutMs, abort);
  signal?.addEventListener('abort', abort);
  try {
    const link = await freshLink(url);
    if (link === undefined) return 'passing';
    if (!mayFetch(link)) return 'final';
    const response = await fetch(link, { redirect: 'manual', credentials: 'omit', signal: controller.signal });
    const announced = Number(response.headers.get('content-length') ?? 0);
    if (!response.ok || response.body === null || (announced > maxBytes && !cut)) {
      await response.body?.cancel();
      return response.status >= 500 || response.status === 429 ? 'passing' : 'final';
    }
    return await readUpTo(response.body, maxBytes, cut);
  } catch {
    return 'passing';
  } finally {
    cancel();
    signal?.removeEventListener('abort', abort);
  }
}

/** Counts the bytes that arrive: the size in a header cannot be trusted. */
async function readUpTo(
  body: ReadableStream<Uint8Array>,
  maxBytes: number,
  cut: boolean,
): Promise<Buffer | DownloadFailure> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of body) {
    size += chunk.byteLength;
    chunks.push(chunk);
    // Leaving the loop cancels the stream.
    if (size > maxBytes && !cut) return 'final';
    if (size > maxBytes) break;
  }
  return Buffer.concat(chunks, size).subarray(0, maxBytes);
}

/** Text files by extension: Discord treats `.ts` as a video, and has no type for `.rs`. */
const NAMES =
  /(?:^|\.)(?:txt|text|log|md|markdown|rst|csv|tsv|json|jsonl|json5|ya?ml|toml|ini|cfg|conf|properties|xml|html?|css|scss|less|[cm]?[jt]sx?|vue|svelte|py|pyi|rb|php|pl|lua|r|jl|java|kt|kts|scala|groovy|cs|fs|vb|swift|m|mm|c|h|cc|cpp|cxx|hpp|hh|go|rs|zig|nim|hs|ml|ex|exs|erl|clj|lisp|el|dart|sh|bash|zsh|fish|ps1|bat|cmd|sql|graphql|proto|tf|tex|diff|patch|srt|vtt|dockerfile|makefile|gitignore|editorconfig)$/iu;
const TYPES = /^(?:text\/|application\/(?:json|xml|x-yaml|yaml|toml|javascript|typescript|x-sh|sql)\b)/iu;

/** Whether an attachment is a text, by its name or its type. Its content may be something else. */
export function isTextFile(file: { readonly name: string; readonly contentType: string | null }): boolean {
  return NAMES.test(file.name) || TYPES.test(file.contentType ?? '');
}

/** The content of an attached text file. */
export interface TextFile {
  /** For a prompt in which lines in square brackets are the host's: none of the file's lines looks like one. */
  readonly text: string;
  /** Whether the file is longer. */
  readonly cut: boolean;
}

/** Downloads and reads the beginning of a text file, at most `maxBytes` of it. A file without text is a `final` failure. Never throws. */
export async function readTextFile(
  file: { readonly url: string; readonly size: number },
  options: Omit<DownloadOptions, 'cut'>,
): Promise<TextFile | DownloadFailure> {
  if (!URL.canParse(file.url)) return 'final';
  const bytes = await downloadAttachment(new URL(file.url), { ...options, cut: true });
  if (typeof bytes === 'string') return bytes;
  const cut = file.size > bytes.byteLength;
  const text = textIn(bytes, cut);
  return text === undefined ? 'final' : { text: withoutNotes(text).trim(), cut };
}

/** Decodes UTF-8, or UTF-16 with its byte order mark. A character that was cut in two is left out. */
function textIn(bytes: Buffer, cut: boolean): string | undefined {
  const [first, second] = bytes;
  const encoding =
    first === 0xff && second === 0xfe ? 'utf-16le' : first === 0xfe && second === 0xff ? 'utf-16be' : 'utf-8';
  try {
    const text = new TextDecoder(encoding, { fatal: true }).decode(bytes, { stream: cut });
    return text.includes('\0') ? undefined : text;
  } catch {
    return undefined;
  }
}
