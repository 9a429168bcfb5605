import { CinnabarError, type Clock, type Logger, sentenceOf, type ToolContext, UserError, z } from '@cinnabar/sdk';
import { StreamableHTTPError } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { CallToolResultSchema, ErrorCode, McpError } from '@modelcontextprotocol/sdk/types.js';
import type { Connection } from '../servers/connection.js';
import { createDeadline } from '../servers/deadline.js';
import type { CheckValue } from './input.js';
import { type ImportedResult, readResult } from './result.js';

interface Parts {
  readonly server: string;
  readonly tool: string;
  readonly timeoutMs: number;
  readonly clock: Clock;
  readonly log: Logger;
  /** Of structured results. */
  readonly check: CheckValue;
}

/** Without a limit that no progress moves, a server could keep a call for ever. */
const LONGEST_MS = 60 * 60_000;
/** More than a timer of the SDK's own ever gets to: the limits here are on the host's clock. */
const FOREVER_MS = 2_147_483_647;
const UNKNOWN_SESSION = 404;
/** Few enough blocks to look at each: the SDK's own schema writes a complaint about each of thousands that do not fit. */
const ANSWER = z.looseObject({ content: z.array(z.unknown()).max(1_000).optional() });

/**
 * Calls a server's tool. The time limit starts again with each progress the server reports; whoever asked can cancel, and the server is told.
 * @throws UserError with what the server said, or why nothing came back
 */
export async function callTool(
  connection: Connection,
  input: Readonly<Record<string, unknown>>,
  context: Pick<ToolContext, 'signal' | 'progress'>,
  parts: Parts,
): Promise<ImportedResult> {
  const { server, tool, clock } = parts;
  const longest = createDeadline(clock, LONGEST_MS, context.signal);
  const limit = createDeadline(clock, parts.timeoutMs, longest.signal);
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
      throw new UserError(`The call was cancelled, and the MCP server "${server}" was told so.`);
    if (limit.passed() || longest.passed()) {
      const seconds = (longest.passed() ? LONGEST_MS : parts.timeoutMs) / 1000;
      throw new UserError(
        `The MCP server "${server}" did not answer within ${seconds} s. It was told to stop; whether it has is not known.`,
      );
    }
    throw explain(error, connection, parts);
  } finally {
    limit.clear();
    longest.clear();
  }
}

async function readWith(
  answer: z.output<typeof ANSWER>,
  connection: Connection,
  { server, tool, check }: Parts,
): Promise<ImportedResult> {
  const { data: parsed, error } = CallToolResultSchema.safeParse(answer);
  if (parsed === undefined) {
    throw new UserError(`The MCP server "${server}" has run this, but its answer cannot be read.`, { cause: error });
  }
  const read = readResult(parsed);
  if (parsed.isError === true) {
    throw new UserError(
      read.text.trim() === '' ? `The MCP server "${server}" reported an error without a word.` : read.text,
    );
  }
  const schema = connection.outputSchemaOf(tool);
  if (schema === undefined) return read;
  const problem = await check(schema, parsed.structuredContent ?? null).catch((error: unknown) => {
    if (!(error instanceof CinnabarError)) throw error;
    return `it could not be checked: ${sentenceOf(error)}`;
  });
  if (problem === undefined) return read;
  throw new UserError(
    `The MCP server "${server}" has run this, but its answer is not as it said that it would be: ${problem}`,
  );
}

/** Members read that there was an error, and of which kind; what it says may be anybody's page, path or key, and is in the log alone. */
function explain(error: unknown, connection: Connection, { server, tool, log }: Parts): Error {
  if (error instanceof McpError && error.code !== ErrorCode.ConnectionClosed) {
    log.warn('an MCP server refused a call', { server, tool, error });
    return new UserError(`The MCP server "${server}" refused this (error ${error.code}).`, { cause: error });
  }
  if (error instanceof StreamableHTTPError && error.code !== UNKNOWN_SESSION) {
    log.warn('an MCP server answered with an error', { server, tool, error });
    const status = error.code === undefined ? '' : ` (HTTP ${error.code})`;
    return new UserError(`The MCP server "${server}" answered with an error${status}.`, { cause: error });
  }
  // The session is gone, or the server is: the next call starts with a new one.
  connection.lose('it stopped answering');
  const detail = `The MCP server "${server}" stopped while this was running: it is not known whether it took effect.`;
  return new UserError(detail, { cause: error });
}
