import type { IncomingHttpHeaders } from 'node:http';
import type { PromptView } from './steps.js';

/** How the exchange ended: with a complete answer, with a connection that the stand-in cut, or because the client disconnected. */
export type Ending = 'answered' | 'cut' | 'aborted';

/** A received request. */
export interface RecordedRequest {
  readonly path: string;
  /** Headers without keys (`authorization`, `x-api-key` …). */
  readonly headers: Readonly<Record<string, string>>;
  /** Whether the request contained a key. */
  readonly hasKey: boolean;
  readonly body: unknown;
  readonly prompt: PromptView;
  /** `undefined` while it is running. */
  readonly ending: Ending | undefined;
  /** Resolves when the exchange has ended. */
  readonly ended: Promise<Ending>;
}

export interface Recording {
  readonly requests: readonly RecordedRequest[];
  /** The number of requests, including those that are no longer kept. */
  readonly count: number;
  add(request: Omit<RecordedRequest, 'ending' | 'ended'>): (ending: Ending) => void;
  /** Resolves with the `count`-th request (from 1) when it arrives. */
  arrived(count: number): Promise<RecordedRequest>;
}

/** @param keep number of requests that are kept */
export function createRecording(keep = Number.POSITIVE_INFINITY): Recording {
  const requests: RecordedRequest[] = [];
  let dropped = 0;
  const waiting = new Set<() => void>();
  return {
    requests,
    get count() {
      return dropped + requests.length;
    },
    add(request) {
      let ending: Ending | undefined;
      let settle: (ending: Ending) => void = () => undefined;
      const ended = new Promise<Ending>((resolve) => {
        settle = resolve;
      });
      requests.push({
        ...request,
        ended,
        get ending() {
          return ending;
        },
      });
      for (const look of waiting) look();
      while (requests.length > keep) {
        requests.shift();
        dropped += 1;
      }
      return (how) => {
        ending ??= how;
        settle(ending);
      };
    },
    arrived(count) {
      return new Promise((resolve) => {
        const look = () => {
          const request = requests[count - 1 - dropped];
          if (request === undefined) return;
          waiting.delete(look);
          resolve(request);
        };
        waiting.add(look);
        look();
      });
    },
  };
}

const SECRET_HEADERS = new Set(['authorization', 'x-api-key', 'x-goog-api-key', 'x-amz-security-token', 'cookie']);

/** Headers without keys. */
export function withoutKeys(headers: IncomingHttpHeaders): Readonly<Record<string, string>> {
  return Object.fromEntries(
    Object.entries(headers).flatMap(([name, value]) =>
      value === undefined || SECRET_HEADERS.has(name) ? [] : [[name, String(value)] as const],
    ),
  );
}

/** The key of a request, in any provider's header; for an AWS signature, the access key. */
export function keyOf(headers: IncomingHttpHeaders): string | undefined {
  const apiKey = headers['x-api-key'] ?? headers['x-goog-api-key'];
  if (typeof apiKey === 'string') return apiKey;
  const signedBy = /^AWS4-HMAC-SHA256 Credential=([^/]+)\//.exec(headers.authorization ?? '')?.[1];
  return signedBy ?? headers.authorization?.replace(/^Bearer\s+/i, '');
}
