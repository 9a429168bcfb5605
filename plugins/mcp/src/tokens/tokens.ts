import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';
import {
  type Actor,
  type Clock,
  type Collection,
  createKeyedMutex,
  type Identities,
  type McpEndpoint,
  z,
} from '@cinnabar/sdk';

const token = z.object({
  /** The token's name for people. */
  id: z.string(),
  /** SHA-256 of the secret, hex. */
  hash: z.string(),
  guildId: z.string().nullable(),
  /** The channel for the confirmation cards of its calls. */
  channelId: z.string(),
  /** The allowed tools; empty: all that the member may use. */
  tools: z.array(z.string()),
  createdBy: z.string(),
  createdAt: z.number(),
  expiresAt: z.number().optional(),
});
type StoredToken = z.output<typeof token>;

/** One document for each member whose rights tokens have, so that the member's export and deletion include the tokens. */
export const tokens = {
  scope: 'user',
  version: 1,
  shared: true,
  schema: z.object({ tokens: z.array(token).default([]) }),
} as const;
type TokenStore = Collection<z.output<typeof tokens.schema>, 'user'>;

/** A token for display and use: without its secret. */
export interface Grant {
  readonly id: string;
  readonly actor: Actor;
  readonly tools: readonly string[];
  readonly createdBy: string;
  readonly expiresAt: number | undefined;
}

export interface Tokens {
  /** Resolves with the token itself, which is not stored. */
  create(request: {
    readonly actor: Actor;
    readonly tools: readonly string[];
    readonly createdBy: string;
    readonly expiresAt?: number;
  }): Promise<{ readonly grant: Grant; readonly bearer: string }>;
  /** The grant of a bearer token; `undefined` when it is invalid, expired or revoked. */
  verify(bearer: string): Promise<Grant | undefined>;
  /** The grants of a guild (`null`: of direct messages). */
  list(guildId: string | null): Promise<readonly Grant[]>;
  /** `false` when the guild has none with that id. */
  revoke(guildId: string | null, id: string): Promise<boolean>;
}

/** Contains the member's id, so that the token is found without a search, and 256 bits of secret. */
const BEARER = /^cinnabar_mcp_(\d{1,20})-([0-9a-f]{8})-([\w-]{43})$/;
const MOST_PER_MEMBER = 50;

export function createTokens(store: TokenStore, clock: Clock): Tokens {
  const all = async (guildId: string | null) => {
    const found: Grant[] = [];
    for await (const [userId, document] of store.entries()) {
      found.push(...document.tokens.filter((stored) => stored.guildId === guildId).map((one) => grantOf(userId, one)));
    }
    return found;
  };

  return {
    async create({ actor, tools, createdBy, expiresAt }) {
      const id = newTokenId();
      const secret = newSecret();
      const { userId, guildId, channelId } = actor;
      const stored: StoredToken = {
        id,
        hash: hashOf(secret),
        guildId,
        channelId,
        tools: [...tools],
        createdBy,
        createdAt: clock.now(),
        ...(expiresAt === undefined ? {} : { expiresAt }),
      };
      await store.of(userId).update((draft) => {
        // Drops expired tokens, and the oldest beyond the limit.
        const live = draft.tokens.filter((one) => !isOver(one, clock.now()));
        draft.tokens = [...live, stored].slice(-MOST_PER_MEMBER);
      });
      return { grant: grantOf(userId, stored), bearer: `cinnabar_mcp_${userId}-${id}-${secret}` };
    },
    async verify(bearer) {
      const [, userId = '', id, secret = ''] = BEARER.exec(bearer) ?? [];
      if (userId === '') return undefined;
      const stored = (await store.of(userId).find())?.tokens.find((one) => one.id === id);
      if (stored === undefined || !isSameHash(stored.hash, hashOf(secret))) return undefined;
      return isOver(stored, clock.now()) ? undefined : grantOf(userId, stored);
    },
    list: async (guildId) =>
      (await all(guildId)).filter(({ expiresAt }) => (expiresAt ?? clock.now() + 1) > clock.now()),
    async revoke(guildId, id) {
      const grant = (await all(guildId)).find((one) => one.id === id);
      if (grant === undefined) return false;
      await store.of(grant.actor.userId).update((draft) => {
        draft.tokens = draft.tokens.filter((one) => one.id !== id);
      });
      return true;
    },
  };
}

const isOver = ({ expiresAt }: StoredToken, now: number) => expiresAt !== undefined && expiresAt <= now;

function grantOf(userId: string, { id, guildId, channelId, tools, createdBy, expiresAt }: StoredToken): Grant {
  return { id, actor: { userId, guildId, channelId }, tools, createdBy, expiresAt };
}

/** A token's secret part: 256 random bits, so a hash faster than a password hash is enough. */
const newSecret = () => randomBytes(32).toString('base64url');

/** The token's id, for people and for `revoke`. */
const newTokenId = () => randomBytes(4).toString('hex');

const hashOf = (secret: string) => createHash('sha256').update(secret).digest('hex');

function isSameHash(one: string, other: string): boolean {
  return one.length === other.length && timingSafeEqual(Buffer.from(one), Buffer.from(other));
}

/** The actor for a bearer. */
export interface Caller {
  /** The token's id, for sessions and rate limits. */
  readonly id: string;
  /** The allowed tools; empty: all that the actor may use. */
  readonly tools: readonly string[];
  /** Called for each request; `undefined` when the agent has been removed meanwhile. */
  actor(): Promise<Actor | undefined>;
}

/** Finds the caller of a bearer token; `undefined` when it is invalid, expired or revoked. */
export type Verify = (bearer: string) => Promise<Caller | undefined>;

/** By the token's id. */
export const agentTokens = {
  scope: 'global',
  version: 1,
  shared: true,
  schema: z.object({ identity: z.string(), hash: z.string(), createdAt: z.number() }),
} as const;
type Store = Collection<z.output<typeof agentTokens.schema>, 'global'>;

interface Dependencies {
  readonly store: Store;
  readonly identities: Pick<Identities, 'get'>;
  readonly clock: Clock;
  readonly url: () => string | undefined;
  /** Ends the sessions of a token. */
  readonly closeOf: (tokenId: string) => Promise<void>;
}

const AGENT_BEARER = /^cinnabar_agent_([0-9a-f]{8})-([\w-]{43})$/;

/** Bearer tokens of agents: each stands for an identity and its current grants. */
export function createAgentTokens({ store, identities, clock, url, closeOf }: Dependencies): {
  readonly endpoint: McpEndpoint;
  readonly verify: Verify;
  /** Revokes the tokens of deleted identities, so that they are not valid for a later identity with the same name. */
  sweep(): Promise<void>;
} {
  // Serialised, so that every issued token is recorded despite concurrent changes.
  const changes = createKeyedMutex();
  const tokensOf = async (identity: string) => {
    const ids: string[] = [];
    for await (const [id, token] of store.entries()) if (token.identity === identity) ids.push(id);
    return ids;
  };
  const end = async (ids: readonly string[]) => {
    for (const id of ids) {
      await store.of(id).delete();
      await closeOf(id);
    }
  };

  const isGone = async (identity: string) => (await identities.get(identity)) === undefined;

  const callerOf = (id: string, identity: string): Caller => ({
    id,
    // The usable tools are in its grants.
    tools: [],
    async actor() {
      const [home] = (await identities.get(identity))?.grants ?? [];
      if (home === undefined) return undefined;
      const { userId, guildId, channelId } = home;
      return { userId, guildId, channelId, identity };
    },
  });

  return {
    endpoint: {
      get url() {
        return url();
      },
      issue: (identity) =>
        changes.run(identity, async () => {
          const before = await tokensOf(identity);
          const [id, secret] = [newTokenId(), newSecret()];
          await store.of(id).set({ identity, hash: hashOf(secret), createdAt: clock.now() });
          await end(before);
          return { bearer: `cinnabar_agent_${id}-${secret}` };
        }),
      revoke: (identity) => changes.run(identity, async () => end(await tokensOf(identity))),
      async cut(identity) {
        for (const id of await tokensOf(identity)) await closeOf(id);
      },
      has: async (identity) => (await tokensOf(identity)).length > 0,
    },
    async verify(bearer) {
      const [, id, secret = ''] = AGENT_BEARER.exec(bearer) ?? [];
      const token = id === undefined ? undefined : await store.of(id).find();
      if (id === undefined || token === undefined || !isSameHash(token.hash, hashOf(secret))) return undefined;
      if (!(await isGone(token.identity))) return callerOf(id, token.identity);
      await end([id]);
      return undefined;
    },
    async sweep() {
      for await (const [id, { identity }] of store.entries()) if (await isGone(identity)) await end([id]);
    },
  };
}
