import { type ChildProcessByStdio, spawn } from 'node:child_process';
import type { Readable, Writable } from 'node:stream';
import type { Clock } from '@cinnabar/sdk';
import { getDefaultEnvironment } from '@modelcontextprotocol/sdk/client/stdio.js';
import { deserializeMessage, serializeMessage } from '@modelcontextprotocol/sdk/shared/stdio.js';
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js';
import type { Intake } from './intake.js';
import { createProcessTree, HAS_GROUPS } from './process-tree.js';

interface Program {
  readonly command: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  readonly cwd?: string;
}

interface StdioParts {
  /** Names the bot, the same in each run. */
  readonly owner: string;
  readonly clock: Clock;
  readonly intake: Intake;
  /** Gets the reason when the program sends more than it may. It is ended, too. */
  readonly onFlood: (error: unknown) => void;
  /** Gets each line of the program's standard error. */
  readonly onStderr: (line: string) => void;
}

const LINE_FEED = 0x0a;

/**
 * Talks to a child process over its standard streams. The SDK's own transport takes a message of any length, at a cost that grows with its
 * square, and leaves what the child has started running when the child ends.
 * The child gets what is configured and harmless variables such as PATH: none of the bot's secrets.
 */
export function createStdioTransport(
  program: Program,
  { owner, clock, intake, onFlood, onStderr }: StdioParts,
): Transport {
  const tree = createProcessTree(owner);
  let child: ChildProcessByStdio<Writable, Readable, Readable> | undefined;

  const read = (line: string) => {
    try {
      transport.onmessage?.(deserializeMessage(line));
    } catch (error) {
      // A line that is no message: servers print such things, and go on.
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
          // It is gone, but what it has started may not be, and may hold its streams open.
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

/** Puts lines together from chunks. After more than a server may send, nothing is read any more. */
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

/**
 * Reads what a program prints beside its messages, line by line: lines are cut, and so many a second are handed on. A program that prints
 * faster than that has to wait.
 */
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
