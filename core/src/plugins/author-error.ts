import { readFileSync } from 'node:fs';
import { isAbsolute, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';

/** `    at run (/plugins/dice/src/index.ts:12:5)`: only the place is used. */
const FRAME = /^\s*at .*?\(?((?:file:\/\/|\/|[A-Za-z]:[\\/])[^()]+):(\d+):(\d+)\)?$/;

interface Place {
  /** From the plugin's folder. */
  readonly file: string;
  readonly line: number;
  readonly column: number;
}

/**
 * The place in the author's files that an error comes from, in two lines: the place, and the source line. Frames of the host, of Node and of packages are left
 * out; `undefined` when there are no others.
 * @param error an `Error`, or its form in a log entry
 * @param folder the folder of the author's files
 */
export function placeForAuthor(error: unknown, folder: string): string | undefined {
  const place = placeOf(error, folder);
  if (place === undefined) return undefined;
  const { file, line, column } = place;
  const source = sourceLine(join(folder, file), line);
  return [`  at ${file}:${line}:${column}`, ...(source === undefined ? [] : [`  ${line} | ${source}`])].join('\n');
}

/** The message of an error's deepest cause. */
export function rootMessage(error: unknown): string | undefined {
  if (typeof error !== 'object' || error === null) return undefined;
  const deeper = 'cause' in error ? rootMessage(error.cause) : undefined;
  return deeper ?? ('message' in error ? String(error.message) : undefined);
}

/** The place of the deepest cause that has one: it is nearest to the fault. */
function placeOf(error: unknown, folder: string): Place | undefined {
  if (typeof error !== 'object' || error === null) return undefined;
  const deeper = 'cause' in error ? placeOf(error.cause, folder) : undefined;
  const stack = 'stack' in error ? String(error.stack) : '';
  return (
    deeper ??
    stack
      .split('\n')
      .map((line) => placeIn(line, folder))
      .find((place) => place !== undefined)
  );
}

function placeIn(frame: string, folder: string): Place | undefined {
  const [, where = '', line, column] = FRAME.exec(frame) ?? [];
  if (where === '') return undefined;
  const file = relative(folder, where.startsWith('file://') ? fileURLToPath(where) : where);
  const isOwn = !file.startsWith('..') && !isAbsolute(file) && !/(?:^|[\\/])node_modules[\\/]/.test(file);
  return isOwn ? { file, line: Number(line), column: Number(column) } : undefined;
}

function sourceLine(file: string, line: number): string | undefined {
  try {
    return readFileSync(file, 'utf8').split('\n')[line - 1]?.trimEnd();
  } catch {
    return undefined;
  }
}
