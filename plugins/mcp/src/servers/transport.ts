import type { Clock } from '@cinnabar/sdk';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js';
import type { ServerSettings } from '../settings.js';
import { asTransport } from '../transports.js';
import { createAuthorization } from './authorization.js';
import { boundedFetch } from './bounded-fetch.js';
import { createIntake } from './intake.js';
import { resolveAll, resolveReferences } from './references.js';
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

export interface Wire {
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
