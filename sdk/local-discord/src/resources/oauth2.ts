import { createHash, randomBytes } from 'node:crypto';
import { z } from 'zod';
import { discordError, invalidForm, OAuthError } from '../errors.js';
import { snowflake } from '../rest/message-form.js';
import { openRoute, type RestContext } from '../rest/request.js';
import type { LocalUser } from '../state/users.js';
import type { World } from '../world.js';

/** RFC 6749, 4.1.2: at most ten minutes. */
const CODE_LIVES_MS = 10 * 60_000;
const TOKEN_LIVES_S = 604_800;

const consent = z.object({
  client_id: snowflake,
  redirect_uri: z.string(),
  response_type: z.literal('code'),
  scope: z.string().min(1),
  state: z.string().optional(),
  code_challenge: z.string().optional(),
  code_challenge_method: z.literal('S256').optional(),
});

/**
 * A user's decision on Discord's consent page: https://discord.com/developers/docs/topics/oauth2#authorization-code-grant
 * @param address of that page, with the scopes that the application requests
 * @returns the address to which the browser is redirected
 * @throws 10002, 50035
 */
export function authorize(world: World, user: LocalUser, address: string, isAllowed: boolean): string {
  const { pathname, searchParams } = new URL(address);
  if (!/^(\/api)?\/oauth2\/authorize$/.test(pathname)) throw discordError('notFound');
  const asked = consent.safeParse(Object.fromEntries(searchParams));
  if (!asked.success) {
    const [issue] = asked.error.issues;
    throw invalidForm({
      path: issue?.path.map(String) ?? [],
      code: 'BASE_TYPE_INVALID',
      message: issue?.message ?? '',
    });
  }
  const { client_id, redirect_uri, scope, state, code_challenge } = asked.data;
  const application = world.applications.get(client_id);
  if (application === undefined) throw discordError('unknownApplication');
  if (!application.redirectUris.has(redirect_uri)) {
    const message = `Redirect URI ${redirect_uri} is not supported by client.`;
    throw invalidForm({ path: ['redirect_uri'], code: 'BASE_TYPE_INVALID', message });
  }
  const back = new URL(redirect_uri);
  if (isAllowed) {
    const code = randomBytes(15).toString('base64url');
    world.authorizationCodes.set(code, {
      application,
      user,
      scopes: scope.split(' '),
      redirectUri: redirect_uri,
      challenge: code_challenge,
      until: world.clock.now() + CODE_LIVES_MS,
    });
    back.searchParams.set('code', code);
  } else {
    back.searchParams.set('error', 'access_denied');
    back.searchParams.set('error_description', 'The resource owner or authorization server denied the request');
  }
  if (state !== undefined) back.searchParams.set('state', state);
  return back.href;
}

/** Exchanges a code, once, for an access token of the user. */
function exchange({ world, fields }: RestContext): object {
  if (fields === undefined) throw new OAuthError(400, 'invalid_request', 'the body has to be a form');
  const application = world.applications.get(fields.get('client_id') ?? '');
  if (application === undefined || application.clientSecret !== fields.get('client_secret'))
    throw new OAuthError(401, 'invalid_client');
  if (fields.get('grant_type') !== 'authorization_code') throw new OAuthError(400, 'unsupported_grant_type');
  const code = fields.get('code') ?? '';
  const given = world.authorizationCodes.get(code);
  world.authorizationCodes.delete(code);
  if (
    given === undefined ||
    given.application !== application ||
    given.until < world.clock.now() ||
    (given.challenge !== undefined && given.challenge !== challengeOf(fields.get('code_verifier') ?? ''))
  )
    throw new OAuthError(400, 'invalid_grant', 'Invalid "code" in request.');
  if (given.redirectUri !== fields.get('redirect_uri'))
    throw new OAuthError(400, 'invalid_grant', 'Invalid "redirect_uri" in request.');
  const token = randomBytes(22).toString('base64url');
  const { user, scopes } = given;
  world.accessTokens.set(token, { user, scopes, until: world.clock.now() + TOKEN_LIVES_S * 1_000 });
  return { token_type: 'Bearer', access_token: token, expires_in: TOKEN_LIVES_S, scope: scopes.join(' ') };
}

/** https://datatracker.ietf.org/doc/html/rfc7636#section-4.2 */
const challengeOf = (verifier: string): string => createHash('sha256').update(verifier).digest('base64url');

export const oauth2Routes = [openRoute('POST', '/oauth2/token', exchange)];
