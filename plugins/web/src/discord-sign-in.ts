import { createHash, randomBytes } from 'node:crypto';
import { type Clock, z } from '@cinnabar/sdk';
import { type Client, DiscordAPIError, makeURLSearchParams, Routes } from 'discord.js';
import { LRUCache } from 'lru-cache';

/** Sign-in with Discord: https://discord.com/developers/docs/topics/oauth2#authorization-code-grant, with PKCE. */
export interface DiscordSignIn {
  /** @returns the address for the browser, and the state that the browser has to keep until it comes back */
  begin(redirectUri: string): { readonly address: string; readonly state: string };
  /** @returns the id of the user who agreed; `undefined` when the state is unknown, used or expired, or Discord rejects the code */
  finish(state: string, code: string): Promise<string | undefined>;
}

export const STATE_LIVES_MS = 10 * 60_000;
/** Number of unfinished sign-ins; above it, the oldest are dropped and have to start again. */
const MOST_PENDING = 1_000;

const tokenAnswer = z.object({ access_token: z.string() });
const person = z.object({ id: z.string() });

interface PendingSignIn {
  readonly verifier: string;
  readonly redirectUri: string;
  readonly until: number;
}

export function createDiscordSignIn(
  client: Pick<Client, 'rest' | 'application' | 'user'>,
  secret: string,
  clock: Clock,
): DiscordSignIn {
  const inFlight = new LRUCache<string, PendingSignIn>({ max: MOST_PENDING });
  const { rest } = client;
  const clientId = () => client.application?.id ?? client.user?.id ?? '';

  const exchange = async (code: string, { verifier, redirectUri }: PendingSignIn): Promise<string> => {
    const body = makeURLSearchParams({
      client_id: clientId(),
      client_secret: secret,
      grant_type: 'authorization_code',
      code,
      redirect_uri: redirectUri,
      code_verifier: verifier,
    });
    const headers = { 'content-type': 'application/x-www-form-urlencoded' };
    const answer = await rest.post(Routes.oauth2TokenExchange(), { body, passThroughBody: true, auth: false, headers });
    return tokenAnswer.parse(answer).access_token;
  };

  return {
    begin(redirectUri) {
      const [state, verifier] = [random(), random()];
      inFlight.set(state, { verifier, redirectUri, until: clock.now() + STATE_LIVES_MS });
      const asked = new URLSearchParams({
        client_id: clientId(),
        redirect_uri: redirectUri,
        response_type: 'code',
        // The person's servers are not requested, because the bot knows which of its servers they are in.
        scope: 'identify',
        state,
        code_challenge: createHash('sha256').update(verifier).digest('base64url'),
        code_challenge_method: 'S256',
        prompt: 'none',
      });
      return { address: `${new URL(rest.options.api).origin}/oauth2/authorize?${asked}`, state };
    },
    async finish(state, code) {
      const begun = inFlight.get(state);
      inFlight.delete(state);
      if (begun === undefined || begun.until < clock.now()) return undefined;
      try {
        const authorization = `Bearer ${await exchange(code, begun)}`;
        return person.parse(await rest.get(Routes.user(), { auth: false, headers: { authorization } })).id;
      } catch (error) {
        if (error instanceof DiscordAPIError && error.code === 'invalid_grant') return undefined;
        throw error;
      }
    },
  };
}

const random = (): string => randomBytes(32).toString('base64url');
