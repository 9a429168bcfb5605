import { access, constants } from 'node:fs/promises';
import { delimiter, isAbsolute, join, resolve } from 'node:path';
import { type CheckResult, type Clock, createDeadline, type Logger, t, UserError, z } from '@cinnabar/sdk';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import {
  CreateMessageRequestSchema,
  ElicitRequestSchema,
  ErrorCode,
  ListRootsRequestSchema,
  McpError,
  type Tool,
  ToolListChangedNotificationSchema,
  ToolSchema,
} from '@modelcontextprotocol/sdk/types.js';
import { isUsable } from '../importing/listing.js';
import type { JsonSchema } from '../importing/schema.js';
import type { ServerSettings } from '../settings.js';
import { createWire } from './transports.js';

interface Dependencies {
  /** Identifies the bot, the same in each run. */
  readonly owner: string;
  readonly name: string;
  readonly settings: ServerSettings;
  readonly env: Readonly<Record<string, unknown>>;
  readonly version: string;
  readonly clock: Clock;
  readonly log: Logger;
  /** Aborts its start. */
  readonly signal: AbortSignal;
  /** Called when the server has ended unexpectedly. */
  readonly onGone: (why: string) => void;
  /** Called when the server reports a changed list of tools. */
  readonly onToolsChanged: () => void;
}

export interface Connection {
  readonly client: Client;
  tools(): Promise<readonly Tool[]>;
  /** The output schema of a tool that `tools` has listed; `undefined` when the tool declares none. */
  outputSchemaOf(tool: string): JsonSchema | undefined;
  /** Marks the connection as unusable, for instance when the server does not know the session. */
  lose(why: string): void;
  close(): Promise<void>;
}

/** Programs such as npx may download a server before they start it. */
const START_MS = 120_000;
const LIST_MS = 30_000;
const MOST_PAGES = 20;
const MOST_TOOLS = 128;
const MOST_TROUBLES = 50;
const FOREVER_MS = 2_147_483_647;

/** Limits the number of tools, which are then validated one by one: the SDK's own schema would report an issue for each of thousands of invalid ones. */
const LISTED = z.looseObject({ tools: z.array(z.unknown()).max(2_000), nextCursor: z.string().optional() });

/**
 * Starts a server, or connects to one over HTTP, and negotiates the protocol.
 * @throws UserError with a sentence about what went wrong
 */
export async function connect(parts: Dependencies): Promise<Connection> {
  const { name, owner, settings, env, version, clock, log } = parts;
  const stderr: string[] = [];
  const wire = createWire(settings, {
    owner,
    env,
    clock,
    onFlood: (error) => lose(error instanceof Error ? error.message : String(error)),
    onStderr(line) {
      stderr.splice(0, Math.max(0, stderr.length - 4));
      stderr.push(line.slice(0, 500));
      log.debug('an MCP server says', { server: name, line: line.slice(0, 2_000) });
    },
  });
  const client = new Client({ name: 'cinnabar', version }, { capabilities: CAPABILITIES });
  refuseRequests(client);
  let outputs: ReadonlyMap<string, JsonSchema> = new Map();
  let over = false;
  let lost: string | undefined;
  const lose = (why: string) => {
    if (over) return;
    over = true;
    lost = why;
    parts.onGone(why);
    void client.close().catch(() => undefined);
  };
  const isWorthLogging = atMost(MOST_TROUBLES, clock);
  client.onerror = (error) => {
    if (isWorthLogging()) log.debug('trouble with an MCP server', { server: name, error });
    // The SDK tries to resume a broken stream, and reports only here that it gives up; without this, requests would wait forever.
    if (/maximum reconnection attempts/i.test(error.message)) lose('it cannot be reached any more');
  };
  client.setNotificationHandler(ToolListChangedNotificationSchema, () => parts.onToolsChanged());

  const deadline = createDeadline(clock, START_MS, [parts.signal]);
  try {
    await client.connect(wire.transport, { signal: deadline.signal, timeout: FOREVER_MS });
  } catch (error) {
    over = true;
    await client.close().catch(() => undefined);
    await wire.transport.close().catch(() => undefined);
    const why = lost ?? (deadline.isUp ? `it took longer than ${START_MS / 1000} s to start` : reasonOf(error, stderr));
    throw new UserError(why, { cause: error });
  } finally {
    deadline.end();
  }
  client.onclose = () => lose(stderr.length === 0 ? 'it stopped' : `it stopped, saying: ${stderr.join(' ⏎ ')}`);

  return {
    client,
    lose,
    async tools() {
      if (client.getServerCapabilities()?.tools === undefined) return [];
      const found: Tool[] = [];
      let cursor: string | undefined;
      for (let page = 0; page < MOST_PAGES && found.length < MOST_TOOLS; page += 1) {
        const limit = createDeadline(clock, LIST_MS, []);
        const listed = await client
          .request({ method: 'tools/list', params: cursor === undefined ? {} : { cursor } }, LISTED, {
            signal: limit.signal,
            timeout: FOREVER_MS,
          })
          .finally(limit.end);
        found.push(...listed.tools.slice(0, MOST_TOOLS).flatMap((tool) => ToolSchema.safeParse(tool).data ?? []));
        cursor = listed.nextCursor;
        if (cursor === undefined) break;
      }
      if (cursor !== undefined) log.warn(`"${name}" has too many tools; the first ${MOST_TOOLS} are used`);
      const used = found.slice(0, MOST_TOOLS);
      outputs = new Map(
        used.flatMap(({ name: tool, outputSchema }) =>
          outputSchema !== undefined && isUsable(outputSchema) ? [[tool, outputSchema]] : [],
        ),
      );
      return used;
    },
    outputSchemaOf: (tool) => outputs.get(tool),
    async close() {
      over = true;
      await wire.sayGoodbye();
      await client.close().catch(() => undefined);
      // The protocol layer closes its transport without waiting for running requests.
      await wire.transport.close();
    },
  };
}

/** Returns `true` for the first `most` calls within a minute: each line that is not a message would be a separate log entry. */
function atMost(most: number, clock: Clock): () => boolean {
  let since = clock.now();
  let count = 0;
  return () => {
    if (clock.now() - since >= 60_000) {
      since = clock.now();
      count = 0;
    }
    count += 1;
    return count <= most;
  };
}

function reasonOf(error: unknown, stderr: readonly string[]): string {
  const message = error instanceof Error ? error.message : String(error);
  return stderr.length === 0 ? message : `${message}; it said: ${stderr.join(' ⏎ ')}`;
}

/** The client's capabilities: only calling tools. */
const CAPABILITIES = {} as const;

/** Refuses requests of a server to the client. A member has requested one tool call: the server may not use their model or send them questions. */
function refuseRequests(client: Client): void {
  client.fallbackRequestHandler = async ({ method }) => {
    switch (method) {
      case ElicitRequestSchema.shape.method.value:
        return { action: 'decline' };
      case ListRootsRequestSchema.shape.method.value:
        return { roots: [] };
      case CreateMessageRequestSchema.shape.method.value:
        throw new McpError(ErrorCode.InvalidRequest, 'This client does not lend its model to servers');
      default:
        throw new McpError(ErrorCode.MethodNotFound, `This client does not answer ${method}`);
    }
  };
}

type Environment = Readonly<Record<string, unknown>>;

/** For `doctor`: whether each MCP server can be reached, or its program exists, and whether the variables in its settings are set. Starts no program. */
export async function checkServers(
  servers: Readonly<Record<string, ServerSettings>>,
  env: Environment,
  signal: AbortSignal,
): Promise<readonly CheckResult[]> {
  const wanted = Object.entries(servers).filter(([, { enabled }]) => enabled);
  const results = await Promise.all(wanted.map(([name, server]) => checkServer(name, server, env, signal)));
  return results.flat();
}

async function checkServer(
  name: string,
  server: ServerSettings,
  env: Environment,
  signal: AbortSignal,
): Promise<readonly CheckResult[]> {
  const missing = referencesIn(server).filter((variable) => env[variable] === undefined || env[variable] === '');
  if (missing.length > 0)
    return [
      {
        ok: false,
        text: t('The server {name} needs variables that are not set: {missing}', { name, missing: missing.join(', ') }),
        remedy: t('Put them into the environment or the file .env.'),
      },
    ];
  if (server.url !== undefined) return [await checkAddress(name, server.url, signal)];
  return [await checkProgram(name, server.command ?? '', server.cwd)];
}

/** The names in all `${NAME}` of a server's settings. */
function referencesIn(server: ServerSettings): readonly string[] {
  const found = JSON.stringify(server).matchAll(/\$\{([A-Za-z_][A-Za-z0-9_]*)\}/g);
  return [...new Set([...found].flatMap(([, variable]) => variable ?? []))];
}

async function checkAddress(name: string, url: string, signal: AbortSignal): Promise<CheckResult> {
  const host = URL.canParse(url) ? new URL(url).host : url;
  try {
    // A server refuses this request without a session; any response below 500 shows that it can be reached.
    const { status } = await fetch(url, { redirect: 'manual', signal });
    if (status < 500) return { ok: true, text: t('The server {name} at {host} can be reached', { name, host }) };
    return {
      ok: false,
      text: t('The server {name} at {host} answers with the error {status}', { name, host, status: String(status) }),
      remedy: t('Look at the log of that server.'),
    };
  } catch {
    return {
      ok: false,
      text: t('The server {name} at {host} cannot be reached', { name, host }),
      remedy: t('Look at its address in the setting `servers` of `mcp`, and whether it runs.'),
    };
  }
}

async function checkProgram(name: string, command: string, cwd: string | undefined): Promise<CheckResult> {
  const isPath = command.includes('/') || isAbsolute(command);
  const places = isPath
    ? [resolve(cwd ?? '.', command)]
    : (process.env.PATH ?? '').split(delimiter).map((folder) => join(folder, command));
  for (const place of places) {
    try {
      await access(place, constants.X_OK);
      return { ok: true, text: t('The program of the server {name} is there', { name }) };
    } catch {
      // The program may be in the next folder.
    }
  }
  return {
    ok: false,
    text: t('The program {command} of the server {name} cannot be found', { command, name }),
    remedy: t('Install it, or correct the setting `servers` of `mcp`.'),
  };
}
