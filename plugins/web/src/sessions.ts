import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';
import { type Clock, type Collection, z } from '@cinnabar/sdk';
import { LRUCache } from 'lru-cache';

/** Stored under the hash of its id, so that the stored data is not enough to sign in. */
export const sessions = {
  scope: 'global',
  version: 1,
  personal: { by: 'userId' },
  schema: z.object({ userId: z.string(), createdAt: z.number(), usedAt: z.number() }),
} as const;
type Stored = z.output<typeof sessions.schema>;

/** A browser that has signed in. */
export interface Session {
  readonly userId: string;
  /** Must be sent with every request that changes something; other sites in the browser do not know it. */
  readonly csrf: string;
}

export interface Sessions {
  /** Always creates a new id, even if the browser had one. */
  open(userId: string): Promise<string>;
  find(id: string): Promise<Session | undefined>;
  /** Whether the session is still valid. Does not extend it. */
  isOpen(id: string): Promise<boolean>;
  close(id: string): Promise<void>;
  /** Deletes expired sessions. */
  sweep(): Promise<void>;
}

const DAY_MS = 24 * 60 * 60_000;
/** Maximum age, whatever the use. */
const LIVES_MS = 30 * DAY_MS;
/** Minimum interval in which the last visit is written. */
const NOTED_MS = 10 * 60_000;

export function createSessions(
  store: Collection<Stored, 'global'>,
  clock: Clock,
  idleDays: () => Promise<number>,
): Sessions {
  const isOver = ({ createdAt, usedAt }: Stored, idleMs: number) =>
    clock.now() - usedAt > idleMs || clock.now() - createdAt > LIVES_MS;
  const idleMs = async () => (await idleDays()) * DAY_MS;
  const remove = async (key: string) => {
    await store.of(key).delete();
  };
  const lookUp = async (key: string): Promise<Stored | undefined> => {
    const stored = await store.of(key).find();
    if (stored === undefined || !isOver(stored, await idleMs())) return stored;
    await remove(key);
    return undefined;
  };

  return {
    async open(userId) {
      const id = randomBytes(32).toString('base64url');
      await store.of(keyOf(id)).set({ userId, createdAt: clock.now(), usedAt: clock.now() });
      return id;
    },
    async find(id) {
      const key = keyOf(id);
      const stored = await lookUp(key);
      if (stored === undefined) return undefined;
      const isNoted = clock.now() - stored.usedAt < NOTED_MS;
      const current = isNoted ? stored : { ...stored, usedAt: clock.now() };
      if (!isNoted) await store.of(key).set(current);
      return { userId: current.userId, csrf: csrfOf(id) };
    },
    isOpen: async (id) => (await lookUp(keyOf(id))) !== undefined,
    close: (id) => remove(keyOf(id)),
    async sweep() {
      const idle = await idleMs();
      for await (const [key, stored] of store.entries()) if (isOver(stored, idle)) await remove(key);
    },
  };
}

const keyOf = (id: string): string => createHash('sha256').update(id).digest('hex');
const csrfOf = (id: string): string => createHash('sha256').update(`csrf:${id}`).digest('base64url');

/** Compares in constant time. */
export function isSameSecret(one: string, other: string): boolean {
  const hash = (text: string) => createHash('sha256').update(text).digest();
  return timingSafeEqual(hash(one), hash(other));
}

/** Single-use sign-in links, in memory: a restart invalidates them. */
export interface SignInLinks {
  make(userId: string): string;
  /** @returns the user whom the link was made for; `undefined` when it was used, has expired, or is unknown */
  take(token: string): string | undefined;
}

const LINK_LIVES_MS = 10 * 60_000;
const MOST_LINKS = 1_000;

export function createSignInLinks(clock: Clock): SignInLinks {
  const links = new LRUCache<string, { readonly userId: string; readonly until: number }>({ max: MOST_LINKS });
  return {
    make(userId) {
      const token = randomBytes(32).toString('base64url');
      links.set(keyOf(token), { userId, until: clock.now() + LINK_LIVES_MS });
      return token;
    },
    take(token) {
      const key = keyOf(token);
      const link = links.get(key);
      links.delete(key);
      return link === undefined || link.until < clock.now() ? undefined : link.userId;
    },
  };
}
