import { createHash } from 'node:crypto';
import type { Clock } from '../state/events.js';

/** `strict` approximates Discord's limits; `generous` never delays a test. */
export type RateLimitMode = 'generous' | 'strict';

interface Rule {
  limit: number;
  windowMs: number;
}

interface Bucket {
  used: number;
  resetAt: number;
}

interface RateLimitDecision {
  headers: Record<string, string>;
  /** Set when the request is refused: seconds until the next attempt, and whether all requests have to wait. */
  refused?: { retryAfterSeconds: number; global: boolean };
}

const GENEROUS: Rule = { limit: 100_000, windowMs: 1_000 };
const STRICT: Rule = { limit: 10, windowMs: 5_000 };
const STRICT_RULES: Readonly<Record<string, Rule>> = {
  'POST /channels/:channelId/messages': { limit: 5, windowMs: 5_000 },
  'PATCH /channels/:channelId/messages/:messageId': { limit: 5, windowMs: 5_000 },
  'DELETE /channels/:channelId/messages/:messageId': { limit: 5, windowMs: 1_000 },
  'PUT /channels/:channelId/messages/:messageId/reactions/:emoji/@me': { limit: 1, windowMs: 250 },
  'DELETE /channels/:channelId/messages/:messageId/reactions/:emoji/@me': { limit: 1, windowMs: 250 },
  'DELETE /channels/:channelId/messages/:messageId/reactions/:emoji/:userId': { limit: 1, windowMs: 250 },
};
const STRICT_GLOBAL: Rule = { limit: 50, windowMs: 1_000 };
/** The ids that separate a route's buckets. */
const MAJOR = ['channelId', 'guildId', 'webhookId', 'interactionId'] as const;

export interface RateLimits {
  mode: RateLimitMode;
  /** Counts a request by its bucket: the route, its major parameter and the bot. */
  take(
    method: string,
    route: string,
    params: Readonly<Record<string, string | undefined>>,
    who: string,
  ): RateLimitDecision;
}

/** Buckets on the injected clock. Interactions and their webhooks do not count towards the global limit, as on Discord. */
export function createRateLimits(clock: Clock, mode: RateLimitMode): RateLimits {
  const buckets = new Map<string, Bucket>();
  const take = (key: string, rule: Rule): { bucket: Bucket; ok: boolean } => {
    const now = clock.now();
    let bucket = buckets.get(key);
    if (!bucket || bucket.resetAt <= now) {
      bucket = { used: 0, resetAt: now + rule.windowMs };
      buckets.set(key, bucket);
    }
    const ok = bucket.used < rule.limit;
    if (ok) bucket.used += 1;
    return { bucket, ok };
  };
  return {
    mode,
    take(method, route, params, who) {
      const name = `${method} ${route}`;
      const strict = this.mode === 'strict';
      if (strict && !route.startsWith('/interactions') && !route.startsWith('/webhooks')) {
        const { bucket, ok } = take(`global:${who}`, STRICT_GLOBAL);
        if (!ok) return refusal(clock, bucket, { 'x-ratelimit-global': 'true', 'x-ratelimit-scope': 'global' }, true);
      }
      const rule = strict ? (STRICT_RULES[name] ?? STRICT) : GENEROUS;
      const major = MAJOR.map((key) => params[key]).find((id) => id !== undefined) ?? '';
      const { bucket, ok } = take(`${this.mode}:${name}:${major}:${who}`, rule);
      const headers = bucketHeaders(clock, name, rule, bucket);
      return ok ? { headers } : refusal(clock, bucket, { ...headers, 'x-ratelimit-scope': 'user' }, false);
    },
  };
}

function bucketHeaders(clock: Clock, name: string, rule: Rule, bucket: Bucket): Record<string, string> {
  return {
    'x-ratelimit-bucket': createHash('md5').update(name).digest('hex'),
    'x-ratelimit-limit': String(rule.limit),
    'x-ratelimit-remaining': String(rule.limit - bucket.used),
    'x-ratelimit-reset': (bucket.resetAt / 1_000).toFixed(3),
    'x-ratelimit-reset-after': (Math.max(0, bucket.resetAt - clock.now()) / 1_000).toFixed(3),
  };
}

function refusal(clock: Clock, bucket: Bucket, headers: Record<string, string>, global: boolean): RateLimitDecision {
  const retryAfterSeconds = Math.max(0.001, (bucket.resetAt - clock.now()) / 1_000);
  return {
    headers: { ...headers, 'retry-after': String(Math.ceil(retryAfterSeconds)) },
    refused: { retryAfterSeconds, global },
  };
}
