/** An MCP server over stdio with the faults of real ones, started by the tests in a separate process. */
import { spawn } from 'node:child_process';
import { writeSync } from 'node:fs';
import { Server } from '@modelcontextprotocol/sdk/server/index.js';
import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js';
import {
  CallToolRequestSchema,
  type CallToolResult,
  ListToolsRequestSchema,
  ResultSchema,
  type ServerNotification,
  type Tool,
} from '@modelcontextprotocol/sdk/types.js';

const NOTHING = { type: 'object' } as const;
/** Each level contains two references to the next one: 2^40 checks. */
const DOUBLING = {
  type: 'object',
  $defs: Object.fromEntries(
    Array.from({ length: 41 }, (_, level) => [
      `l${level}`,
      level === 40 ? { type: 'object' } : { allOf: [1, 2].map(() => ({ $ref: `#/$defs/l${level + 1}` })) },
    ]),
  ),
  allOf: [{ $ref: '#/$defs/l0' }],
} as const;
const tools: Tool[] = [
  { name: 'crash', description: 'Ends the server.', inputSchema: NOTHING },
  { name: 'patient', description: 'Waits to be told to go on.', inputSchema: NOTHING },
  { name: 'nudge', description: 'Lets `patient` show progress, or end.', inputSchema: NOTHING },
  {
    name: 'cancelled',
    description: 'How often `patient` was cancelled.',
    inputSchema: NOTHING,
    annotations: { readOnlyHint: true },
  },
  { name: 'big', description: 'A long text.', inputSchema: NOTHING },
  { name: 'grow', description: 'Adds a tool.', inputSchema: NOTHING },
  { name: 'ask', description: 'Asks the client for things.', inputSchema: NOTHING },
  { name: 'offspring', description: 'Starts a process that outlives its parent.', inputSchema: NOTHING },
  { name: 'environment', description: 'The environment.', inputSchema: NOTHING },
  { name: 'fail', description: 'Reports an error.', inputSchema: NOTHING, annotations: { destructiveHint: true } },
  { name: 'flood', description: 'Prints without end.', inputSchema: { type: 'object' } },
  { name: 'endless', description: 'A schema of its arguments that takes for ever.', inputSchema: DOUBLING },
  {
    name: 'mismatch',
    description: 'A result that is not as its schema says.',
    inputSchema: NOTHING,
    outputSchema: { type: 'object', properties: { text: { type: 'string', pattern: '^(a+)+$' } } },
  },
  {
    name: 'unending',
    description: 'A result whose check takes for ever.',
    inputSchema: NOTHING,
    // No engine with linear time supports back-references.
    outputSchema: { type: 'object', properties: { text: { type: 'string', pattern: '^((a+)+)\\1?$' } } },
  },
  { name: 'weird.name/with:signs', description: 'A name that no model takes.', inputSchema: NOTHING },
];

const server = new Server({ name: 'child', version: '1.0.0' }, { capabilities: { tools: { listChanged: true } } });
let goOn: (end: boolean) => void = () => undefined;
let cancelled = 0;

const text = (said: string): CallToolResult => ({ content: [{ type: 'text', text: said }] });

interface Extra {
  readonly signal: AbortSignal;
  readonly _meta?: { readonly progressToken?: string | number | undefined } | undefined;
  sendNotification(notification: ServerNotification): Promise<void>;
}

async function patient({ signal, _meta, sendNotification }: Extra): Promise<CallToolResult> {
  const progressToken = _meta?.progressToken ?? 0;
  for (let progress = 1; ; progress += 1) {
    await sendNotification({ method: 'notifications/progress', params: { progressToken, progress, message: 'here' } });
    const end = await new Promise<boolean>((resolve) => {
      goOn = resolve;
      signal.addEventListener('abort', () => {
        cancelled += 1;
        resolve(true);
      });
    });
    if (end) return text('at last');
  }
}

async function ask(): Promise<CallToolResult> {
  const answerTo = (method: string, params: Record<string, unknown>) =>
    server.request({ method, params }, ResultSchema).then(
      (answer) => answer,
      (error: unknown) => String(error),
    );
  const form = { type: 'object', properties: { name: { type: 'string' } } };
  const messages = [{ role: 'user', content: { type: 'text', text: 'hello' } }];
  return text(
    JSON.stringify([
      await answerTo('elicitation/create', { message: 'Who are you?', requestedSchema: form }),
      await answerTo('roots/list', {}),
      await answerTo('sampling/createMessage', { messages, maxTokens: 10 }),
    ]),
  );
}

const handlers: Readonly<
  Record<string, (extra: Extra, input: Readonly<Record<string, unknown>>) => CallToolResult | Promise<CallToolResult>>
> = {
  crash: () => process.exit(1),
  patient,
  nudge(_, { end }) {
    goOn(end === true);
    return text('nudged');
  },
  cancelled: () => text(String(cancelled)),
  big: () => text('x'.repeat(300 * 1024)),
  async grow() {
    tools.push({ name: 'grown', description: 'New.', inputSchema: NOTHING });
    await server.sendToolListChanged();
    return text('grown');
  },
  ask,
  offspring(_, { port, detached, hidden }) {
    // A process that ignores the signals that end its parent; its open connection shows that it is alive.
    const program = `process.on('SIGTERM', () => {}); require('node:net').connect(${String(port)}, '127.0.0.1')`;
    const options = {
      stdio: 'ignore',
      // Runs in a separate session and process group.
      detached: detached === true,
      ...(hidden === true ? { env: {} } : {}),
    } as const;
    if (hidden === true) {
      // Its parent exits at once, so that the process has no link to this one.
      const parent = `require('node:child_process').spawn(process.execPath, ['-e', ${JSON.stringify(program)}], { stdio: 'ignore', detached: true, env: {} }).unref()`;
      spawn(process.execPath, ['-e', parent], options);
    } else spawn(process.execPath, ['-e', program], options);
    return text('started');
  },
  flood(_, { to, chunk }) {
    setImmediate(() => {
      const [file, bytes] = [to === 'stderr' ? 2 : 1, String(chunk).repeat(64 * 1024)];
      for (;;) {
        try {
          writeSync(file, bytes);
        } catch (error) {
          // The pipe is temporarily full.
          if (!String(error).includes('EAGAIN')) throw error;
        }
      }
    });
    return text('on its way');
  },
  environment: () => text(JSON.stringify(process.env)),
  endless: () => text('run'),
  mismatch: () => ({ ...text(''), structuredContent: { text: `${'a'.repeat(60)}!` } }),
  unending: () => ({ ...text(''), structuredContent: { text: `${'a'.repeat(60)}!` } }),
  fail: () => ({ ...text('The disk is full.'), isError: true }),
};

server.setRequestHandler(ListToolsRequestSchema, async () => ({ tools }));
server.setRequestHandler(CallToolRequestSchema, async ({ params }, extra) => {
  const handler = handlers[params.name];
  return handler === undefined ? text('?') : handler(extra, params.arguments ?? {});
});
process.stderr.write('ready to serve\n');
await server.connect(new StdioServerTransport());
