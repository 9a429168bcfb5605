import type { Clock } from '@cinnabar/sdk';

export type Fetch = typeof globalThis.fetch;

/** How a download ended without an image. */
export type Failure =
  /** It would end the same way again: gone, too large. */
  | 'final'
  /** It may work later. */
  | 'passing';

export interface DownloadOptions {
  readonly fetch: Fetch;
  readonly clock: Clock;
  readonly maxBytes: number;
  readonly timeoutMs: number;
  /** Ends the download. */
  readonly signal: AbortSignal | undefined;
}

/** Fetches a file. Redirects are not followed: they could lead anywhere. Never throws. */
export async function download(
  url: URL,
  { fetch, clock, maxBytes, timeoutMs, signal }: DownloadOptions,
): Promise<Buffer | Failure> {
  const controller = new AbortController();
  const abort = () => controller.abort();
  const cancel = clock.after(timeoutMs, abort);
  signal?.addEventListener('abort', abort);
  try {
    const response = await fetch(url, { redirect: 'manual', credentials: 'omit', signal: controller.signal });
    const announced = Number(response.headers.get('content-length') ?? 0);
    if (!response.ok || response.body === null || announced > maxBytes) {
      await response.body?.cancel();
      return response.status >= 500 || response.status === 429 ? 'passing' : 'final';
    }
    return await readUpTo(response.body, maxBytes);
  } catch {
    return 'passing';
  } finally {
    cancel();
    signal?.removeEventListener('abort', abort);
  }
}

/** Counts while it reads: what a header says is no promise. */
async function readUpTo(body: ReadableStream<Uint8Array>, maxBytes: number): Promise<Buffer | Failure> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of body) {
    size += chunk.byteLength;
    // Leaving the loop cancels the stream.
    if (size > maxBytes) return 'final';
    chunks.push(chunk);
  }
  return Buffer.concat(chunks, size);
}
