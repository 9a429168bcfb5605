import { type ChildProcessByStdio, spawn } from 'node:child_process';
import type { Readable, Writable } from 'node:stream';
import { type Clock, UserError } from '@cinnabar/sdk';
import type { OAuthClientProvider } from '@modelcontextprotocol/sdk/client/auth.js';
import { ClientCredentialsProvider, PrivateKeyJwtProvider } from '@modelcontextprotocol/sdk/client/auth-extensions.js';
import { getDefaultEnvironment } from '@modelcontextprotocol/sdk/client/stdio.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { deserializeMessage, serializeMessage } from '@modelcontextprotocol/sdk/shared/stdio.js';
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js';
import type { ServerSettings } from '../settings.js';
import { boundedFetch, createIntake, type Intake } from './intake.js';
import { createProcessTree, HAS_GROUPS } from './process-tree.js';

interface Program {
  readonly command: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  readonly cwd?: string;
}

interface StdioOptions {
  /** Identifies the bot, the same in each run. */
  readonly owner: string;
  readonly clock: Clock;
  readonly intake: Intake;
  /** Called with the reason when the program exceeds the limits, after which it is killed. */
  readonly onFlood: (error: unknown) => void;
  /** Called with each line of the program's standard error. */
  readonly onStderr: (line: string) => void;
}

const LINE_FEED = 0x0a;

/**
 * Communicates with a child process over its standard streams. The SDK's own transport accepts messages of any length, with quadratic cost, and does not end
 * the child's descendants.
 * The child gets its configured environment and harmless variables such as PATH, but none of the bot's secrets.
 */
function createStdioTransport(program: Program, { owner, clock, intake, onFlood, onStderr }: StdioOptions): Transport {
  const tree = createProcessTree(owner);
  let child: ChildProcessByStdio<Writable, Readable, Readable> | undefined;

  const read = (line: string) => {
    try {
      transport.onmessage?.(deserializeMessage(line));
    } catch (error) {
      // The line is not a message: servers print such lines and continue.
      transport.onerror?.(asError(error));
    }
  };
  const receive = createReceiver(intake, read, (error) => {
    onFlood(error);
    void transport.close();
  });

  const transport: Transport = {
    start: () =>
      new Promise((resolve, reject) => {
        const { command, args, env, cwd } = program;
        const started = spawn(command, args, {
          env: { ...getDefaultEnvironment(), ...env, ...tree.env },
          stdio: ['pipe', 'pipe', 'pipe'],
          detached: HAS_GROUPS,
          windowsHide: true,
          ...(cwd === undefined ? {} : { cwd }),
        });
        tree.adopt(started);
        child = started;
        started.once('spawn', resolve);
        started.once('error', (error) => {
          reject(error);
          transport.onerror?.(error);
        });
        started.once('exit', () => {
          // The program has ended, but its descendants may still run and keep its streams open.
          void tree.end();
        });
        started.once('close', () => transport.onclose?.());
        started.stdout.on('data', receive);
        for (const stream of [started.stdin, started.stdout, started.stderr]) {
          stream.on('error', (error) => transport.onerror?.(error));
        }
        readStderr(started.stderr, clock, onStderr);
      }),
    send: (message) =>
      new Promise((resolve, reject) => {
        if (child === undefined || !child.stdin.writable) return reject(new Error('the server is not running'));
        child.stdin.write(serializeMessage(message), (error) => (error ? reject(error) : resolve()));
      }),
    close: () => tree.end(),
  };
  return transport;
}

/** Assembles lines from chunks. After a limit is exceeded, nothing more is read. */
function createReceiver(intake: Intake, onLine: (line: string) => void, onFlood: (error: unknown) => void) {
  const check = intake.watch('line');
  let parts: Buffer[] = [];
  let isOver = false;
  return (chunk: Buffer) => {
    if (isOver) return;
    try {
      check(chunk);
    } catch (error) {
      isOver = true;
      parts = [];
      onFlood(error);
      return;
    }
    let from = 0;
    for (let end = chunk.indexOf(LINE_FEED); end >= 0; end = chunk.indexOf(LINE_FEED, from)) {
      onLine(Buffer.concat([...parts, chunk.subarray(from, end)]).toString('utf8'));
      parts = [];
      from = end + 1;
    }
    if (from < chunk.byteLength) parts.push(chunk.subarray(from));
  };
}

function asError(error: unknown): Error {
  return error instanceof Error ? error : new Error(String(error));
}

const LONGEST_LINE = 2_000;
const SECOND_MS = 1_000;
const MOST_BYTES_PER_SECOND = 1024 * 1024;
const MOST_LINES_PER_SECOND = 100;

/** Reads a program's other output line by line. Long lines are cut, and the number of lines per second is limited: a program that prints faster has to wait. */
function readStderr(stream: Readable, clock: Clock, onLine: (line: string) => void): void {
  const decoder = new TextDecoder();
  let line = '';
  let since = clock.now();
  let bytes = 0;
  let lines = 0;
  let cancel: () => void = () => undefined;

  const startSecond = () => {
    const left = lines - MOST_LINES_PER_SECOND;
    if (left > 0) onLine(`… ${left} lines left out`);
    since = clock.now();
    bytes = 0;
    lines = 0;
  };
  const endLine = () => {
    lines += 1;
    if (lines <= MOST_LINES_PER_SECOND && line !== '') onLine(line);
    line = '';
  };
  const add = (text: string) => {
    if (line.length < LONGEST_LINE) line += text.slice(0, LONGEST_LINE - line.length);
  };

  stream.on('data', (chunk: Buffer) => {
    if (clock.now() - since >= SECOND_MS) startSecond();
    const [first = '', ...others] = decoder.decode(chunk, { stream: true }).split(/\r?\n/);
    add(first);
    for (const other of others) {
      endLine();
      add(other);
    }
    bytes += chunk.byteLength;
    if (bytes < MOST_BYTES_PER_SECOND) return;
    stream.pause();
    cancel = clock.after(SECOND_MS, () => stream.resume());
  });
  stream.on('close', () => cancel());
  stream.on('end', () => {
    if (line !== '') endLine();
  });
}

interface Dependencies {
  /** Identifies the bot, the same in each run. */
  readonly owner: string;
  readonly env: Readonly<Record<string, unknown>>;
  readonly clock: Clock;
  /** Called with the reason when a server exceeds the limits. */
  readonly onFlood: (error: unknown) => void;
  /** Called with a server's output other than messages. */
  readonly onStderr: (line: string) => void;
}

interface Wire {
  readonly transport: Transport;
  /** Ends the session at the server, if the protocol allows it. Never rejects. */
  sayGoodbye(): Promise<void>;
}

/** Creates the transport of a server. @throws UserError when a variable that the settings refer to is not set */
export function createWire(settings: ServerSettings, { owner, env, clock, onFlood, onStderr }: Dependencies): Wire {
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
 * Gets access tokens at the server's authorization server: OAuth without a person, by client credentials. These are sent only to the configured issuer,
 * whatever the server announces: https://modelcontextprotocol.io/extensions/auth/oauth-client-credentials
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
  // A variable in a .env file is one line: line breaks of a PEM file are written as \n there.
  const privateKey = resolveReferences(oauth.privateKey, env).replaceAll('\\n', '\n');
  return new PrivateKeyJwtProvider({ ...known, privateKey, algorithm });
}

const REFERENCE = /\$\{([A-Za-z_][A-Za-z0-9_]*)\}/g;

/**
 * Replaces `${NAME}` by the values of environment variables. Called when a server is started, so that settings contain no secrets.
 * @throws UserError with the name of a variable that is not set
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

/** The SDK's HTTP transports, whose accessors may be `undefined` where its interface has optional properties. */
type LooseTransport = { [K in keyof Transport]: Transport[K] | undefined } & Pick<
  Transport,
  'start' | 'send' | 'close'
>;

/** Converts a transport of the SDK to the SDK's interface, which was not written for `exactOptionalPropertyTypes`. */
export function asTransport(transport: LooseTransport): Transport {
  return transport as Transport;
}
