import type { Readable } from 'node:stream';
import type { Clock } from '@cinnabar/sdk';

const LONGEST_LINE = 2_000;
const SECOND_MS = 1_000;
const MOST_BYTES_PER_SECOND = 1024 * 1024;
const MOST_LINES_PER_SECOND = 100;

/**
 * Reads what a program prints beside its messages, line by line: lines are cut, and so many a second are handed on. A program that prints
 * faster than that has to wait.
 */
export function readStderr(stream: Readable, clock: Clock, onLine: (line: string) => void): void {
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
