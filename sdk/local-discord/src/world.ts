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

/** The addresses of the servers, without a trailing slash. */
export interface Addresses {
  api: string;
  cdn: string;
  gateway: string;
}

/** Simulated faults of interactions. */
export interface InteractionFaults {
  /** Sends each interaction twice, as two events. */
  repeat: boolean;
  /** Omits `channel`; `channel_id` stays. */
  omitChannel: boolean;
}

/** The complete state of one local Discord. */
export interface World {
  readonly clock: Clock;
  readonly nextId: () => string;
  readonly addresses: Addresses;
  /** Messages kept per channel; the oldest are dropped. */
  readonly keepMessages: number;
  readonly users: Map<string, LocalUser>;
  readonly applications: Map<string, LocalApplication>;
  readonly guilds: Map<string, LocalGuild>;
  /** Channels of every guild, including threads and DMs. */
  readonly channels: Map<string, LocalChannel>;
  readonly webhooks: Map<string, LocalWebhook>;
  /** Consents by code, until the code is exchanged. */
  readonly authorizationCodes: Map<string, LocalAuthorization>;
  readonly accessTokens: Map<string, LocalAccessToken>;
  /** Interactions by id. */
  readonly interactions: Map<string, LocalInteraction>;
  /** The latest message of each author and nonce within the last minutes, oldest first. */
  readonly nonces: Map<string, LocalMessage>;
  /** Files by path on the CDN. */
  readonly files: Map<string, LocalAttachment>;
  readonly sessions: Set<GatewaySession>;
  /** The recommended number of shards. */
  readonly shards: number;
  readonly sessionStarts: SessionStarts;
  /** Time for which a session can be resumed after its socket has closed. */
  readonly sessionLifetimeMs: number;
  readonly interactionFaults: InteractionFaults;
  /** Sends an event to the observers, in server order. */
  readonly notify: (event: LocalEvent) => void;
}

interface WorldInit {
  clock?: Clock;
  keepMessages?: number;
  shards?: number;
  sessionStartLimit?: SessionStartLimit;
  sessionLifetimeMs?: number;
  notify: World['notify'];
}

/** Creates an empty world. */
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
