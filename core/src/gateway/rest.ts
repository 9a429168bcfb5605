import { type Clock, isTransient } from '@cinnabar/sdk';
import { DiscordAPIError, HTTPError, type RESTOptions } from 'discord.js';

import type { Lease } from '../cluster/assignment.js';

type MakeRequest = RESTOptions['makeRequest'];

/** Discord's global limit (https://discord.com/developers/docs/topics/rate-limits#global-rate-limit). */
export const REQUESTS_PER_SECOND = 50;
const WINDOW_MS = 1_000;

/** How many requests may be made at the moment. */
export interface RequestBudget {
  /** Whether one may go now; it counts then. */
  take(): boolean;
  /** Calls `again` when it is worth asking again. @param waiting how many want to go */
  whenMore(waiting: number, again: () => void): void;
}

/** That of a process that is alone. */
export function createRequestBudget(clock: Clock, perSecond: number): RequestBudget {
  let windowEndsAt = Number.NEGATIVE_INFINITY;
  let inWindow = 0;
  return {
    take() {
      const now = clock.now();
      if (now >= windowEndsAt) {
        windowEndsAt = now + WINDOW_MS;
        inWindow = 0;
      }
      if (inWindow >= perSecond) return false;
      inWindow += 1;
      return true;
    },
    whenMore: (_waiting, again) => void clock.after(Math.max(1, windowEndsAt - clock.now()), again),
  };
}

/**
 * Keeps to the global limit of requests, and lets places take turns when more wait than may go: a channel in which much is said does not keep
 * the others waiting. Within a place the order stays. Answers to interactions do not count, and go at once.
 * @param budget without one, all requests go at once
 */
export function createFairRequests(budget: RequestBudget | undefined, makeRequest: MakeRequest): MakeRequest {
  if (budget === undefined) return makeRequest;
  /** What waits, by place; the place whose turn is next comes first. */
  const lines = new Map<string, (() => void)[]>();
  let isTimed = false;

  const serve = () => {
    for (const [place, [next, ...others]] of lines) {
      if (!budget.take()) break;
      // The others come first.
      lines.delete(place);
      if (others.length > 0) lines.set(place, others);
      next?.();
    }
    if (lines.size === 0 || isTimed) return;
    isTimed = true;
    const waiting = [...lines.values()].reduce((sum, line) => sum + line.length, 0);
    budget.whenMore(waiting, () => {
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
    if (place !== undefined) await turn(place, init.signal);
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

/** Lets nothing leave the process while its servers may be another one's; without a lease they never are. */
export function makeWhileHeld(lease: Lease | undefined, makeRequest: MakeRequest): MakeRequest {
  if (lease === undefined) return makeRequest;
  return async (url, init) => {
    if (!lease.isHeld()) {
      await lease.held();
      init.signal?.throwIfAborted();
    }
    return makeRequest(url, init);
  };
}

/** Tells errors of Discord and of the way to it from those of code that fails by itself. */
export interface DiscordFailures {
  /** For discord.js' requests, their waiting included: remembers which errors they ended with. */
  watch(makeRequest: MakeRequest): MakeRequest;
  /** A 5xx of Discord, or a request to it that got no answer; also as the cause of another error. */
  isOne(error: unknown): boolean;
}

/** A network error alone does not say whose request it was: plugins speak to other servers, too. */
export function createDiscordFailures(): DiscordFailures {
  const unanswered = new WeakSet<Error>();
  return {
    watch: (makeRequest) => async (url, init) => {
      try {
        return await makeRequest(url, init);
      } catch (error) {
        if (error instanceof Error) unanswered.add(error);
        throw error;
      }
    },
    isOne(error) {
      for (let one = error; one instanceof Error; one = one.cause) {
        if (unanswered.has(one)) return true;
        if ((one instanceof HTTPError || one instanceof DiscordAPIError) && isTransient(one)) return true;
      }
      return false;
    },
  };
}

/** A message by a webhook, or a further answer to an interaction: `POST /webhooks/{id}/{token}`. */
const WEBHOOK_POST = /\/webhooks\/\d+\/[^/?]+(?:\?.*)?$/;

/**
 * Lets discord.js make each message by a webhook once: it repeats whatever Discord failed at, and for webhooks Discord compares no nonces, so
 * a message that was there already would be there several times. The caller gets the failure, and decides after a look at the channel.
 */
export function makeWebhookPostsOnce(makeRequest: MakeRequest): MakeRequest {
  return async (url, init) => {
    if (init.method !== 'POST' || !WEBHOOK_POST.test(url)) return makeRequest(url, init);
    const fail = (status: number, text: string, cause?: unknown) =>
      Object.assign(new HTTPError(status, text, 'POST', url, { body: undefined, files: undefined }), { cause });
    const response = await makeRequest(url, init).catch((error: unknown) => {
      // discord.js repeats after a timeout and a lost connection, but after no error of this class.
      throw fail(504, 'No answer came', error);
    });
    if (response.status >= 500) throw fail(response.status, response.statusText);
    return response;
  };
}
