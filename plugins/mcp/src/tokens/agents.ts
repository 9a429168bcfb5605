import { type Clock, type Collection, createKeyedMutex, type Identities, type McpEndpoint, z } from '@cinnabar/sdk';
import { type Caller, hashOf, isSameHash, newSecret, newTokenId, type Verify } from './tokens.js';

/** By the token's id. */
export const agentTokens = {
  scope: 'global',
  version: 1,
  schema: z.object({ identity: z.string(), hash: z.string(), createdAt: z.number() }),
} as const;
type Store = Collection<z.output<typeof agentTokens.schema>, 'global'>;

interface Parts {
  readonly store: Store;
  readonly identities: Pick<Identities, 'get'>;
  readonly clock: Clock;
  readonly url: () => string | undefined;
  /** Ends the sessions of a token. */
  readonly closeOf: (tokenId: string) => Promise<void>;
}

const BEARER = /^cinnabar_agent_([0-9a-f]{8})-([\w-]{43})$/;

/** Bearers of agents: each stands for an identity, and for whatever that is granted at the moment. */
export function createAgentTokens({ store, identities, clock, url, closeOf }: Parts): {
  readonly endpoint: McpEndpoint;
  readonly verify: Verify;
  /** Ends the bearers of identities that are gone: who gets the name next must not find them valid. */
  sweep(): Promise<void>;
} {
  // Two who issue at once, or one who revokes meanwhile, must not leave a bearer of which nobody knows.
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
    // What it may use is in its grants.
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
      const [, id, secret = ''] = BEARER.exec(bearer) ?? [];
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
