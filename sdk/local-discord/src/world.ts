import type { GatewaySession } from './gateway/session.js';
import { createSessionStarts, type SessionStartLimit, type SessionStarts } from './gateway/session-starts.js';
import { createSnowflakes } from './snowflakes.js';
import type { LocalApplication } from './state/applications.js';
import type { LocalChannel } from './state/channels.js';
import { type Clock, type LocalEvent, systemClock } from './state/events.js';
import type { LocalGuild } from './state/guilds.js';
import type { LocalInteraction } from './state/interactions.js';
import type { LocalAttachment, LocalMessage, LocalWebhook } from './state/messages.js';
import type { LocalAccessToken, LocalAuthorization } from './state/oauth2.js';
import type { LocalUser } from './state/users.js';

/** Where the servers listen, without a trailing slash. */
export interface Addresses {
  api: string;
  cdn: string;
  gateway: string;
}

/** How interactions are sent. */
export interface InteractionFaults {
  /** Twice, as two events. */
  repeat: boolean;
  /** Without their `channel`: `channel_id` is there. */
  omitChannel: boolean;
}

/** All state of one local Discord, in one place. Everything else is a function of it. */
export interface World {
  readonly clock: Clock;
  readonly nextId: () => string;
  readonly addresses: Addresses;
  /** Messages kept per channel; the oldest are dropped. */
  readonly keepMessages: number;
  readonly users: Map<string, LocalUser>;
  readonly applications: Map<string, LocalApplication>;
  readonly guilds: Map<string, LocalGuild>;
  /** Of every guild, threads and DMs included. */
  readonly channels: Map<string, LocalChannel>;
  readonly webhooks: Map<string, LocalWebhook>;
  /** By code, until it is exchanged. */
  readonly authorizationCodes: Map<string, LocalAuthorization>;
  readonly accessTokens: Map<string, LocalAccessToken>;
  /** By interaction id. */
  readonly interactions: Map<string, LocalInteraction>;
  /** The latest message of each author and nonce of the last minutes, the oldest first. */
  readonly nonces: Map<string, LocalMessage>;
  /** By the path on the CDN. */
  readonly files: Map<string, LocalAttachment>;
  readonly sessions: Set<GatewaySession>;
  /** How many shards clients are recommended to run. */
  readonly shards: number;
  readonly sessionStarts: SessionStarts;
  /** How long a session can be resumed after its socket has closed. */
  readonly sessionLifetimeMs: number;
  readonly interactionFaults: InteractionFaults;
  /** Calls the observers, in server order. */
  readonly notify: (event: LocalEvent) => void;
}

export interface WorldInit {
  clock?: Clock;
  keepMessages?: number;
  shards?: number;
  sessionStartLimit?: SessionStartLimit;
  sessionLifetimeMs?: number;
  notify: World['notify'];
}

/** An empty one. */
export function createWorld(options: WorldInit): World {
  const clock = options.clock ?? systemClock;
  return {
    clock,
    nextId: createSnowflakes(clock),
    addresses: { api: '', cdn: '', gateway: '' },
    keepMessages: options.keepMessages ?? 10_000,
    users: new Map(),
    applications: new Map(),
    guilds: new Map(),
    channels: new Map(),
    webhooks: new Map(),
    authorizationCodes: new Map(),
    accessTokens: new Map(),
    interactions: new Map(),
    nonces: new Map(),
    files: new Map(),
    sessions: new Set(),
    shards: options.shards ?? 1,
    sessionStarts: createSessionStarts(clock, options.sessionStartLimit),
    sessionLifetimeMs: options.sessionLifetimeMs ?? Number.POSITIVE_INFINITY,
    interactionFaults: { repeat: false, omitChannel: false },
    notify: options.notify,
  };
}
