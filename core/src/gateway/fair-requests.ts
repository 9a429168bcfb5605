import type { Clock } from '@cinnabar/sdk';
import type { RESTOptions } from 'discord.js';

type MakeRequest = RESTOptions['makeRequest'];

/** Discord's global limit (https://discord.com/developers/docs/topics/rate-limits#global-rate-limit). */
export const REQUESTS_PER_SECOND = 50;
const WINDOW_MS = 1_000;

/**
 * Keeps to the global limit of requests, and lets places take turns when more wait than may go: a channel in which much is said does not keep
 * the others waiting. Within a place the order stays. Answers to interactions do not count, and go at once.
 */
export function createFairRequests(clock: Clock, perSecond: number, makeRequest: MakeRequest): MakeRequest {
  /** What waits, by place; the place whose turn is next comes first. */
  const lines = new Map<string, (() => void)[]>();
  let windowEndsAt = Number.NEGATIVE_INFINITY;
  let inWindow = 0;
  let isTimed = false;

  const mayGo = () => {
    const now = clock.now();
    if (now >= windowEndsAt) {
      windowEndsAt = now + WINDOW_MS;
      inWindow = 0;
    }
    if (inWindow >= perSecond) return false;
    inWindow += 1;
    return true;
  };
  const serve = () => {
    for (const [place, [next, ...others]] of lines) {
      if (!mayGo()) break;
      // The others come first.
      lines.delete(place);
      if (others.length > 0) lines.set(place, others);
      next?.();
    }
    if (lines.size === 0 || isTimed) return;
    isTimed = true;
    clock.after(Math.max(1, windowEndsAt - clock.now()), () => {
      isTimed = false;
      serve();
    });
  };
  const turn = (place: string, signal: AbortSignal | null | undefined) =>
    new Promise<void>((resolve, reject) => {
      const give = () => {
        lines.set(
          place,
          (lines.get(place) ?? []).filter((other) => other !== go),
        );
        if (lines.get(place)?.length === 0) lines.delete(place);
        reject(signal?.reason);
      };
      const go = () => {
        signal?.removeEventListener('abort', give);
        resolve();
      };
      if (signal?.aborted === true) return reject(signal.reason);
      signal?.addEventListener('abort', give, { once: true });
      lines.set(place, [...(lines.get(place) ?? []), go]);
      serve();
    });

  return async (url, init) => {
    const place = placeOf(url);
    if (place !== undefined && Number.isFinite(perSecond)) await turn(place, init.signal);
    return makeRequest(url, init);
  };
}

/**
 * The channel, guild or webhook that a request is about, else what kind it is; `undefined` for an answer to an interaction: the first goes by
 * its own route, edits and further ones by webhooks of the application, which carry the interaction's token in the place of the bot's.
 * https://discord.com/developers/docs/interactions/receiving-and-responding#endpoints
 */
function placeOf(url: string): string | undefined {
  const [, kind = '', id = '', token] = /\/v\d+\/([^/?]+)(?:\/(\d+)(?:\/([^/?]+))?)?/.exec(url) ?? [];
  return kind === 'interactions' || (kind === 'webhooks' && token !== undefined) ? undefined : `${kind}/${id}`;
}
