import { type Clock, UserError } from '@cinnabar/sdk';
import type { OAuthClientProvider } from '@modelcontextprotocol/sdk/client/auth.js';
import { ClientCredentialsProvider, PrivateKeyJwtProvider } from '@modelcontextprotocol/sdk/client/auth-extensions.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js';
import type { ServerSettings } from '../settings.js';
import { asTransport } from '../transports.js';
import { boundedFetch, createIntake } from './intake.js';
import { createStdioTransport } from './stdio-transport.js';

interface Parts {
  /** Names the bot, the same in each run. */
  readonly owner: string;
  readonly env: Readonly<Record<string, unknown>>;
  readonly clock: Clock;
  /** Gets the reason when a server sends more than it may. */
  readonly onFlood: (error: unknown) => void;
  /** Gets what a server prints beside its messages. */
  readonly onStderr: (line: string) => void;
}

interface Wire {
  readonly transport: Transport;
  /** Tells the server that the session is over, where there is a way to. Never rejects. */
  sayGoodbye(): Promise<void>;
}

/** @throws UserError when a variable that the settings refer to is not set */
export function createWire(settings: ServerSettings, { owner, env, clock, onFlood, onStderr }: Parts): Wire {
  const intake = createIntake(clock);
  if (settings.url !== undefined) {
    const authProvider = createAuthorization(settings, env);
    const transport = new StreamableHTTPClientTransport(new URL(resolveReferences(settings.url, env)), {
      fetch: boundedFetch(intake, onFlood),
      requestInit: { headers: resolveAll(settings.headers, env) },
      ...(authProvider === undefined ? {} : { authProvider }),
    });
    return {
      transport: asTransport(transport),
      sayGoodbye: () => transport.terminateSession().catch(() => undefined),
    };
  }
  const program = {
    command: resolveReferences(settings.command ?? '', env),
    args: (settings.args ?? []).map((argument) => resolveReferences(argument, env)),
    env: resolveAll(settings.env, env),
    ...(settings.cwd === undefined ? {} : { cwd: resolveReferences(settings.cwd, env) }),
  };
  return {
    transport: createStdioTransport(program, { owner, clock, intake, onFlood, onStderr }),
    sayGoodbye: async () => undefined,
  };
}

type Environment = Readonly<Record<string, unknown>>;

/**
 * Lets the bot get its own access tokens at the server's authorization server: OAuth without a person, by client credentials. They are
 * shown to the configured issuer alone, whatever the server says: https://modelcontextprotocol.io/extensions/auth/oauth-client-credentials
 * @throws UserError when a variable that the settings refer to is not set
 */
function createAuthorization({ oauth }: ServerSettings, env: Environment): OAuthClientProvider | undefined {
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

const REFERENCE = /\$\{([A-Za-z_][A-Za-z0-9_]*)\}/g;

/**
 * Puts the values of environment variables in place of `${NAME}`. Done when a server is started, so that a secret is in no setting.
 * @throws UserError naming the variable that is not set
 */
function resolveReferences(text: string, env: Environment): string {
  return text.replace(REFERENCE, (_, name: string) => {
    const value = env[name];
    if (typeof value === 'string') return value;
    throw new UserError(`the environment variable ${name} is not set`);
  });
}

function resolveAll(values: Readonly<Record<string, string>> | undefined, env: Environment) {
  return Object.fromEntries(Object.entries(values ?? {}).map(([name, value]) => [name, resolveReferences(value, env)]));
}
