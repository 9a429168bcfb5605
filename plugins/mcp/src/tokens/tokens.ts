import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';
import { type Actor, type Clock, type Collection, z } from '@cinnabar/sdk';

const token = z.object({
  /** For people, to name it by. */
  id: z.string(),
  /** SHA-256 of the secret, hex. */
  hash: z.string(),
  guildId: z.string().nullable(),
  /** Where cards of its calls are shown. */
  channelId: z.string(),
  /** Only these tools; empty: all that the member may use. */
  tools: z.array(z.string()),
  createdBy: z.string(),
  createdAt: z.number(),
  expiresAt: z.number().optional(),
});
type StoredToken = z.output<typeof token>;

/** A document for each member that tokens act as: so a member's export and deletion cover them. */
export const tokens = {
  scope: 'user',
  version: 1,
  schema: z.object({ tokens: z.array(token).default([]) }),
} as const;
type TokenStore = Collection<z.output<typeof tokens.schema>, 'user'>;

/** A token as it may be shown and used: without its secret. */
export interface Grant {
  readonly id: string;
  readonly actor: Actor;
  readonly tools: readonly string[];
  readonly createdBy: string;
  readonly expiresAt: number | undefined;
}

export interface Tokens {
  /** Resolves with the token itself, which is kept nowhere. */
  create(request: {
    readonly actor: Actor;
    readonly tools: readonly string[];
    readonly createdBy: string;
    readonly expiresAt?: number;
  }): Promise<{ readonly grant: Grant; readonly bearer: string }>;
  /** Whom a bearer acts as; `undefined` when it is not valid, or not any more. */
  verify(bearer: string): Promise<Grant | undefined>;
  /** Of a guild (`null`: of direct messages). */
  list(guildId: string | null): Promise<readonly Grant[]>;
  /** `false` when there is none of that id in the guild. */
  revoke(guildId: string | null, id: string): Promise<boolean>;
}

/** Says whose it is, so that it is found without a search; the rest is a secret of 256 bits. */
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
        // What has expired is of no use to anyone; and nobody needs more than so many.
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

/** A token's secret part: 256 random bits, so nothing slower than SHA-256 is needed to keep it. */
export const newSecret = () => randomBytes(32).toString('base64url');

/** Names a token for people, and finds it. */
export const newTokenId = () => randomBytes(4).toString('hex');

export const hashOf = (secret: string) => createHash('sha256').update(secret).digest('hex');

export function isSameHash(one: string, other: string): boolean {
  return one.length === other.length && timingSafeEqual(Buffer.from(one), Buffer.from(other));
}

/** Whom a bearer acts as. */
export interface Caller {
  /** Of the token: its sessions and its rate belong to it. */
  readonly id: string;
  /** Only these tools; empty: all that the actor may use. */
  readonly tools: readonly string[];
  /** Asked for each request, since an agent may have been sent away meanwhile: then there is none. */
  actor(): Promise<Actor | undefined>;
}

/** `undefined` when the bearer is not valid, or not any more. */
export type Verify = (bearer: string) => Promise<Caller | undefined>;
