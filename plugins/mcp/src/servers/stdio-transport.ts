import { type ChildProcessByStdio, spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import type { Readable, Writable } from 'node:stream';
import { getDefaultEnvironment } from '@modelcontextprotocol/sdk/client/stdio.js';
import { ReadBuffer, serializeMessage } from '@modelcontextprotocol/sdk/shared/stdio.js';
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js';
import { endGroup, HAS_GROUPS } from './process-group.js';

export interface Program {
  readonly command: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  readonly cwd?: string;
}

/** Longer messages end the connection: a result is cut to far less anyway. */
const MOST_BUFFERED_BYTES = 32 * 1024 * 1024;

/**
 * Talks to a child process over its standard streams. The SDK's own transport leaves what the child has started running when the child
 * ends: here the child leads a process group of its own, which ends as a whole.
 * The child gets what is configured and harmless variables such as PATH: none of the bot's secrets.
 * @param onStderr gets each line of the child's standard error
 */
export function createStdioTransport(program: Program, onStderr: (line: string) => void): Transport {
  const buffer = new ReadBuffer({ maxBufferSize: MOST_BUFFERED_BYTES });
  let child: ChildProcessByStdio<Writable, Readable, Readable> | undefined;
  let closing: Promise<void> | undefined;

  const receive = (chunk: Buffer) => {
    try {
      buffer.append(chunk);
    } catch (error) {
      transport.onerror?.(asError(error));
      void transport.close();
      return;
    }
    for (;;) {
      try {
        const message = buffer.readMessage();
        if (message === null) return;
        transport.onmessage?.(message);
      } catch (error) {
        // A line that is no message: servers print such things, and go on.
        transport.onerror?.(asError(error));
      }
    }
  };

  const transport: Transport = {
    start: () =>
      new Promise((resolve, reject) => {
        const { command, args, env, cwd } = program;
        const started = spawn(command, args, {
          env: { ...getDefaultEnvironment(), ...env },
          stdio: ['pipe', 'pipe', 'pipe'],
          detached: HAS_GROUPS,
          windowsHide: true,
          ...(cwd === undefined ? {} : { cwd }),
        });
        child = started;
        started.once('spawn', resolve);
        started.once('error', (error) => {
          reject(error);
          transport.onerror?.(error);
        });
        started.once('close', () => {
          transport.onclose?.();
          // It is gone, but what it has started may not be.
          closing ??= endGroup(started);
        });
        started.stdout.on('data', receive);
        for (const stream of [started.stdin, started.stdout, started.stderr]) {
          stream.on('error', (error) => transport.onerror?.(error));
        }
        createInterface({ input: started.stderr }).on('line', onStderr);
      }),
    send: (message) =>
      new Promise((resolve, reject) => {
        if (child === undefined || !child.stdin.writable) return reject(new Error('the server is not running'));
        child.stdin.write(serializeMessage(message), (error) => (error ? reject(error) : resolve()));
      }),
    close() {
      closing ??= child === undefined ? Promise.resolve() : endGroup(child);
      return closing;
    },
  };
  return transport;
}

function asError(error: unknown): Error {
  return error instanceof Error ? error : new Error(String(error));
}
