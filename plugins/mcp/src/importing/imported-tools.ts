import {
  CinnabarError,
  type Clock,
  createDeadline,
  type Disposer,
  type Logger,
  type Registrar,
  type Risk,
  sentenceOf,
  type ToolContext,
  type ToolInput,
  t,
  UserError,
  type WorkerModule,
  z,
} from '@cinnabar/sdk';
import { StreamableHTTPError } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { CallToolResultSchema, ErrorCode, McpError } from '@modelcontextprotocol/sdk/types.js';
import type { Connection } from '../servers/connection.js';
import type { ServerSettings } from '../settings.js';
import { importedNames, type ListedTool } from './listing.js';
import { type ImportedResult, readResult } from './result.js';
import type { JsonSchema } from './schema.js';

interface Dependencies {
  readonly server: string;
  readonly settings: ServerSettings;
  readonly clock: Clock;
  readonly log: Logger;
  readonly tool: Registrar['tool'];
  readonly check: CheckValue;
  readonly need: () => Promise<Connection>;
}

interface Registered {
  readonly listed: ListedTool;
  readonly dispose: Disposer;
}

/** Keeps the registered tools of one server equal to its list. */
export interface Imported {
  /** Registers new tools, removes deleted ones, and keeps unchanged ones. */
  update(tools: readonly ListedTool[]): Promise<void>;
  /** The listed tools by their names in the host. */
  list(): ReadonlyMap<string, ListedTool>;
}

export function createImported(parts: Dependencies): Imported {
  const { server, log } = parts;
  const registered = new Map<string, Registered>();

  const add = (name: string, listed: ListedTool) => {
    try {
      registered.set(name, { listed, dispose: register(name, listed, parts) });
    } catch (error) {
      log.warn('a tool of an MCP server cannot be offered', { server, tool: listed.name, error });
    }
  };

  return {
    async update(tools) {
      const names = importedNames(
        server,
        tools.map(({ name }) => name),
      );
      const enabled = tools.filter(({ name }) => parts.settings.tools[name]?.enabled !== false);
      const wanted = new Map(enabled.map((listed) => [names.get(listed.name) ?? listed.name, listed]));
      for (const [name, { listed, dispose }] of registered) {
        const next = wanted.get(name);
        if (next !== undefined && isSame(next, listed)) wanted.delete(name);
        else {
          await dispose();
          registered.delete(name);
        }
      }
      for (const [name, listed] of wanted) add(name, listed);
    },
    list: () => new Map([...registered].map(([name, { listed }]) => [name, listed])),
  };
}

function register(
  name: string,
  listed: ListedTool,
  { server, settings, clock, log, check, tool, need }: Dependencies,
): Disposer {
  return tool({
    name,
    description: listed.description,
    input: inputFor(listed.inputSchema, check),
    inputSchema: listed.inputSchema,
    risk: riskOf(listed, settings),
    yields: true,
    // Servers run in the process for data of no guild.
    runsIn: () => null,
    access: { tier: settings.tools[listed.name]?.tier ?? settings.tier },
    present: {
      action: `${server}: ${listed.name}`,
      success: (_, { text }: ImportedResult) => text,
      content: (_, { content }: ImportedResult) => content,
    },
    async run(input, context) {
      const connection = await need();
      return callTool(connection, input, context, {
        server,
        tool: listed.name,
        timeoutMs: settings.timeoutMs,
        clock,
        log,
        check,
      });
    },
  });
}

const RISKS = ['read', 'write', 'destructive'] as const;

/** The risk from the owner's settings. The server's own hints only raise it, unless the owner trusts them. */
function riskOf({ name, risk: hint }: ListedTool, { risk, tools }: ServerSettings): Risk {
  const own = tools[name]?.risk;
  if (own !== undefined || risk === 'hints') return own ?? hint;
  return RISKS.indexOf(hint) > RISKS.indexOf(risk) ? hint : risk;
}

function isSame(one: ListedTool, other: ListedTool): boolean {
  return JSON.stringify(one) === JSON.stringify(other);
}

interface ToolCallContext {
  readonly server: string;
  readonly tool: string;
  readonly timeoutMs: number;
  readonly clock: Clock;
  readonly log: Logger;
  /** Checks structured results. */
  readonly check: CheckValue;
}

/** Total limit that progress does not extend: otherwise a server could keep a call pending forever. */
const LONGEST_MS = 60 * 60_000;
/** Effectively disables the SDK's own timer: the limits here use the host's clock. */
const FOREVER_MS = 2_147_483_647;
const UNKNOWN_SESSION = 404;
/** Limits the number of blocks, which are then validated one by one: the SDK's own schema would report an issue for each of thousands of invalid ones. */
const ANSWER = z.looseObject({ content: z.array(z.unknown()).max(1_000).optional() });

/**
 * Calls a server's tool. The time limit restarts with each progress that the server reports. A cancellation by the caller is sent to the server.
 * @throws UserError with the server's message, or why there is no result
 */
async function callTool(
  connection: Connection,
  input: Readonly<Record<string, unknown>>,
  context: Pick<ToolContext, 'signal' | 'progress'>,
  parts: ToolCallContext,
): Promise<ImportedResult> {
  const { server, tool, clock } = parts;
  const longest = createDeadline(clock, LONGEST_MS, [context.signal]);
  const limit = createDeadline(clock, parts.timeoutMs, [longest.signal]);
  try {
    const result = await connection.client.request(
      { method: 'tools/call', params: { name: tool, arguments: { ...input } } },
      ANSWER,
      {
        signal: limit.signal,
        timeout: FOREVER_MS,
        onprogress({ progress, total, message }) {
          limit.restart();
          context.progress({
            progress,
            ...(total === undefined ? {} : { total }),
            ...(message === undefined ? {} : { message }),
          });
        },
      },
    );
    return await readWith(result, connection, parts);
  } catch (error) {
    if (error instanceof UserError) throw error;
    if (context.signal.aborted)
      throw new UserError(t('The call was cancelled, and the MCP server "{server}" was told so.', { server }));
    if (limit.isUp || longest.isUp) {
      const seconds = (longest.isUp ? LONGEST_MS : parts.timeoutMs) / 1000;
      throw new UserError(
        t(
          'The MCP server "{server}" did not answer within {seconds} s. It was told to stop; whether it has is not known.',
          { server, seconds },
        ),
      );
    }
    throw explain(error, connection, parts);
  } finally {
    limit.end();
    longest.end();
  }
}

async function readWith(
  answer: z.output<typeof ANSWER>,
  connection: Connection,
  { server, tool, check }: ToolCallContext,
): Promise<ImportedResult> {
  const { data: parsed, error } = CallToolResultSchema.safeParse(answer);
  if (parsed === undefined) {
    throw new UserError(t('The MCP server "{server}" has run this, but its answer cannot be read.', { server }), {
      cause: error,
    });
  }
  const read = readResult(parsed);
  if (parsed.isError === true) {
    throw new UserError(
      read.text.trim() === ''
        ? t('The MCP server "{server}" reported an error without a reason.', { server })
        : read.text,
    );
  }
  const schema = connection.outputSchemaOf(tool);
  if (schema === undefined) return read;
  const problem = await check(schema, parsed.structuredContent ?? null).catch((error: unknown) => {
    if (!(error instanceof CinnabarError)) throw error;
    return t('it could not be checked: {reason}', { reason: sentenceOf(error) ?? '' });
  });
  if (problem === undefined) return read;
  throw new UserError(
    t('The MCP server "{server}" has run this, but its answer does not have the form that it declares: {problem}', {
      server,
      problem,
    }),
  );
}

/** Members read only the kind of the error. Its text may contain pages, paths or keys, and is only logged. */
function explain(error: unknown, connection: Connection, { server, tool, log }: ToolCallContext): Error {
  if (error instanceof McpError && error.code !== ErrorCode.ConnectionClosed) {
    log.warn('an MCP server refused a call', { server, tool, error });
    return new UserError(t('The MCP server "{server}" refused this (error {code}).', { server, code: error.code }), {
      cause: error,
    });
  }
  if (error instanceof StreamableHTTPError && error.code !== UNKNOWN_SESSION) {
    log.warn('an MCP server answered with an error', { server, tool, error });
    const sentence =
      error.code === undefined
        ? t('The MCP server "{server}" answered with an error.', { server })
        : t('The MCP server "{server}" answered with an error (HTTP {code}).', { server, code: error.code });
    return new UserError(sentence, { cause: error });
  }
  // The session or the server is gone: the next call reconnects.
  connection.lose('it stopped answering');
  const detail = t(
    'The MCP server "{server}" stopped while this was running: it is not known whether it took effect.',
    { server },
  );
  return new UserError(detail, { cause: error });
}

/** The violation of a server's schema by a value; `undefined` when there is none, or when the schema is invalid. */
type CheckValue = (schema: JsonSchema, value: unknown) => Promise<string | undefined>;

const CHECK_MS = 1_000;

/** Checks values in a worker; servers take turns. @throws CinnabarError CINNABAR_WORKER_TIMEOUT and the like */
export function checkIn(schemas: WorkerModule<typeof import('./schema.js')>, server: string): CheckValue {
  return async (schema, value) => {
    // Any object is valid. Most tools without arguments have such a schema.
    if (Object.keys(schema).every((key) => key === 'type' || key === '$schema') && schema.type === 'object')
      return undefined;
    return schemas.run('problemWith', { schema, value }, { timeoutMs: CHECK_MS, group: `server ${server}` });
  };
}

/** The host's schema of a tool's input: any object that the server's schema accepts. */
function inputFor(schema: JsonSchema, check: CheckValue): ToolInput {
  return z.looseObject({}).superRefine(async (value, context) => {
    const problem = await check(schema, value).catch((error: unknown) => {
      if (!(error instanceof CinnabarError)) throw error;
      return t("they could not be checked against the server's schema. {reason}", { reason: sentenceOf(error) ?? '' });
    });
    if (problem !== undefined) context.addIssue({ code: 'custom', message: problem });
  });
}
