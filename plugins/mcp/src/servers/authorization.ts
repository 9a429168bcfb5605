import type { OAuthClientProvider } from '@modelcontextprotocol/sdk/client/auth.js';
import { ClientCredentialsProvider, PrivateKeyJwtProvider } from '@modelcontextprotocol/sdk/client/auth-extensions.js';
import type { ServerSettings } from '../settings.js';
import { resolveReferences } from './references.js';

type Environment = Readonly<Record<string, unknown>>;

/**
 * Lets the bot get its own access tokens at the server's authorization server: OAuth without a person, by client credentials. They are
 * shown to the configured issuer alone, whatever the server says: https://modelcontextprotocol.io/extensions/auth/oauth-client-credentials
 * @throws UserError when a variable that the settings refer to is not set
 */
export function createAuthorization({ oauth }: ServerSettings, env: Environment): OAuthClientProvider | undefined {
  if (oauth === undefined) return undefined;
  const { issuer, scope, algorithm } = oauth;
  const known = {
    clientId: resolveReferences(oauth.clientId, env),
    clientName: 'cinnabar',
    expectedIssuer: issuer,
    ...(scope === undefined ? {} : { scope }),
  };
  if (oauth.privateKey === undefined) {
    const clientSecret = resolveReferences(oauth.clientSecret ?? '', env);
    return new ClientCredentialsProvider({ ...known, clientSecret });
  }
  // A variable in a .env file is one line: the breaks of a PEM file are written as \n there.
  const privateKey = resolveReferences(oauth.privateKey, env).replaceAll('\\n', '\n');
  return new PrivateKeyJwtProvider({ ...known, privateKey, algorithm });
}
