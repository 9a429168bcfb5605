import { type Clock, createOutgoing, isTransient, type Outgoing } from '@cinnabar/sdk';
import { DiscordAPIError, HTTPError, type REST, type RESTOptions } from 'discord.js';

import type { Lease } from '../cluster/assignment.js';

type MakeRequest = RESTOptions['makeRequest'];

/** Discord's global limit (https://discord.com/developers/docs/topics/rate-limits#global-rate-limit). */
export const REQUESTS_PER_SECOND = 50;
const WINDOW_MS = 1_000;

/** A limit on the number of requests in a time span. */
export interface RequestBudget {
  /** Whether a request may be sent now. Counts it if so. */
  take(): boolean;
  /** Calls `again` when more requests may be sent. @param waiting the number of waiting requests */
  whenMore(waiting: number, again: () => void): void;
}

/** The limit for a single process. */
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
 * Keeps the global limit of requests. When more requests wait than may be sent, places take turns, so that a busy channel does not delay the others. Within a
 * place the order is kept. Answers to interactions do not count towards the limit, and are sent immediately.
 * @param budget without one, all requests are sent immediately
 */
export function createFairRequests(budget: RequestBudget | undefined, makeRequest: MakeRequest): MakeRequest {
  if (budget === undefined) return makeRequest;
  /** The waiting requests by place; the place whose turn is next is first. */
  const lines = new Map<string, (() => void)[]>();
  let isTimed = false;

  const serve = () => {
    for (const [place, [next, ...others]] of lines) {
      if (!budget.take()) break;
      // Moves the place behind all others.
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
 * The channel, guild or webhook that a request is about, otherwise its route; `undefined` for an answer to an interaction: the first answer has its own route,
 * edits and further answers use the application's webhooks, with the interaction's token instead of the bot's.
 * https://discord.com/developers/docs/interactions/receiving-and-responding#endpoints
 */
function placeOf(url: string): string | undefined {
  const [, kind = '', id = '', token] = /\/v\d+\/([^/?]+)(?:\/(\d+)(?:\/([^/?]+))?)?/.exec(url) ?? [];
  return kind === 'interactions' || (kind === 'webhooks' && token !== undefined) ? undefined : `${kind}/${id}`;
}

/** Blocks all requests while the lease is not held, because another process may serve this host's servers. Without a lease, requests are never blocked. */
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

/** Distinguishes errors of Discord and the network from other errors. */
export interface DiscordFailures {
  /** Wraps discord.js' requests, including their waiting, and records their errors. */
  watch(makeRequest: MakeRequest): MakeRequest;
  /** Whether the error is a 5xx of Discord, or a request to it that got no answer; also as the cause of another error. */
  isOne(error: unknown): boolean;
}

/** Records which errors came from requests to Discord, because plugins send requests to other servers, too, and their network errors look the same. */
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

/** A message through a webhook, or a further answer to an interaction: `POST /webhooks/{id}/{token}`. */
const WEBHOOK_POST = /\/webhooks\/\d+\/[^/?]+(?:\?.*)?$/;

/**
 * Makes discord.js send each webhook message only once. It would retry after errors of Discord, and since Discord does not compare nonces for webhooks, the
 * message could appear several times. The caller gets the error, and decides after reading the channel.
 */
export function makeWebhookPostsOnce(makeRequest: MakeRequest): MakeRequest {
  return async (url, init) => {
    if (init.method !== 'POST' || !WEBHOOK_POST.test(url)) return makeRequest(url, init);
    const fail = (status: number, text: string, cause?: unknown) =>
      Object.assign(new HTTPError(status, text, 'POST', url, { body: undefined, files: undefined }), { cause });
    const response = await makeRequest(url, init).catch((error: unknown) => {
      // discord.js retries after a timeout and a lost connection, but not after an error of this class.
      throw fail(504, 'No answer came', error);
    });
    if (response.status >= 500) throw fail(response.status, response.statusText);
    return response;
  };
}

/** The running requests to Discord about single interactions. */
export interface InteractionRequests {
  /**
   * Follows the answers to an interaction, and the changes of the message that it came from.
   * @returns the answers, and a function that stops following
   */
  follow(interaction: {
    readonly token: string;
    readonly message: { readonly id: string } | null;
  }): Pick<Outgoing, 'arrival'> & { end(): void };
}

/** Finds answers by the interaction's token in their route, whichever method of discord.js sends them. An answer's time includes waiting for rate limits. */
export function watchInteractions(rest: Pick<REST, 'request'>): InteractionRequests {
  const followed = new Set<{ readonly about: (route: string) => boolean; readonly outgoing: Outgoing }>();
  const request = rest.request.bind(rest);
  rest.request = (options) => {
    const sent = request(options);
    for (const { about, outgoing } of followed) if (about(options.fullRoute)) void outgoing.add(sent);
    return sent;
  };
  return {
    follow({ token, message }) {
      const outgoing = createOutgoing();
      const one = {
        about: (route: string) =>
          route.includes(`/${token}`) || (message !== null && route.endsWith(`/messages/${message.id}`)),
        outgoing,
      };
      followed.add(one);
      return { arrival: outgoing.arrival, end: () => void followed.delete(one) };
    },
  };
}
