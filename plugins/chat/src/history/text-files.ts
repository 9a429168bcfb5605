import {
  type Clock,
  type DownloadFailure,
  type FreshLink,
  type Logger,
  lastingAddress,
  type MayFetch,
  readTextFile,
  type TextFile,
} from '@cinnabar/sdk';
import { LRUCache } from 'lru-cache';
import type { HistoryAttachment, TextFiles } from './types.js';

export interface TextFilesParts {
  readonly clock: Clock;
  readonly log: Logger;
  readonly mayFetch: MayFetch;
  readonly freshLink: FreshLink;
  /** Ends downloads under way. */
  readonly signal: AbortSignal;
}

const MOST_CHARACTERS_KEPT = 4_000_000;
/** A file that failed is left alone for so long: a window asks for the same files at every activation. */
const LEFT_ALONE_MS: Readonly<Record<DownloadFailure, number>> = { final: 30 * 60_000, passing: 60_000 };

/** Text files of messages: downloaded once, then kept in memory. */
export function createTextFiles(parts: TextFilesParts): TextFiles {
  const { clock, log } = parts;
  const kept = new LRUCache<string, TextFile | DownloadFailure>({
    maxSize: MOST_CHARACTERS_KEPT,
    sizeCalculation: (file) => (typeof file === 'string' ? 1 : file.text.length + 1),
    ttlResolution: 0,
    perf: { now: () => clock.now() },
  });
  const reading = new Map<string, Promise<TextFile | DownloadFailure>>();
  const load = async (key: string, { url, name, sizeBytes }: HistoryAttachment, maxBytes: number) => {
    const file = await readTextFile({ url, size: sizeBytes }, { ...parts, maxBytes });
    if (typeof file === 'string') {
      kept.set(key, file, { ttl: LEFT_ALONE_MS[file] });
      log.debug('a text file was not read', { name, failure: file });
    } else kept.set(key, file);
    return file;
  };
  return {
    async read(attachment, maxBytes) {
      if (!URL.canParse(attachment.url)) return undefined;
      const key = `${maxBytes} ${lastingAddress(new URL(attachment.url))}`;
      const task =
        kept.get(key) ?? reading.get(key) ?? load(key, attachment, maxBytes).finally(() => reading.delete(key));
      if (task instanceof Promise) reading.set(key, task);
      const file = await task;
      return typeof file === 'string' ? undefined : file;
    },
    clear: () => kept.clear(),
  };
}
