import { type FileHandle, open, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { type LogFields, type LogQuery, type LogReader, type LogRecord, z } from '@cinnabar/sdk';
import { LEVELS } from './log-entry.js';
import { LOG_FILE } from './log-files.js';

/** The maximum number of bytes that one query reads from the files. */
const MOST_BYTES = 16 * 1024 * 1024;
const CHUNK_BYTES = 256 * 1024;

const entrySchema = z.looseObject({
  time: z.iso.datetime(),
  level: z.enum(LEVELS),
  component: z.string(),
  message: z.string(),
});

/**
 * Finds entries in the log files of a folder, from the end of the newest file on.
 * @param watch calls its listener with each new entry
 */
export function createLogReader(dir: string, watch: LogReader['watch']): LogReader {
  return {
    watch,
    async find(query) {
      const entries: LogRecord[] = [];
      const budget = { bytes: MOST_BYTES };
      const fits = createFilter(query);
      for (const name of await filesOf(dir, query.level === 'error' ? 'errors' : 'cinnabar')) {
        for await (const line of linesFromEnd(join(dir, name), budget)) {
          const entry = fits(line);
          if (entry === undefined) continue;
          if (entries.length === query.limit) return { entries, end: 'more' };
          entries.push(entry);
        }
      }
      return { entries, end: budget.bytes > 0 ? 'all' : 'unread' };
    },
  };
}

/** The log files of the wanted kind, the newest first. */
async function filesOf(dir: string, wanted: string): Promise<readonly string[]> {
  const names = await readdir(dir).catch(() => []);
  return names
    .flatMap((name) => {
      const [, kind, day = '', part = '0'] = LOG_FILE.exec(name) ?? [];
      return kind === wanted ? [{ name, age: `${day}.${part.padStart(6, '0')}` }] : [];
    })
    .sort((one, other) => (one.age < other.age ? 1 : -1))
    .map(({ name }) => name);
}

/** Parses a line, if it matches. Checks on the text alone come first: most lines do not match. */
function createFilter({ level, component, text = '', guildId = '', before }: LogQuery) {
  const words = text.toLowerCase();
  const most = level === undefined ? LEVELS.length : LEVELS.indexOf(level);
  return (line: string): LogRecord | undefined => {
    if (!line.includes(guildId) || (words !== '' && !line.toLowerCase().includes(words))) return undefined;
    const entry = read(line);
    if (entry === undefined || LEVELS.indexOf(entry.level) > most) return undefined;
    if (component !== undefined && entry.component !== component) return undefined;
    return before === undefined || entry.at < before ? entry : undefined;
  };
}

/** The component of an entry, or the plugin that it is about when the host has logged it. */
export const originOf = (component: string, { plugin }: LogFields): string =>
  typeof plugin === 'string' ? plugin : component;

/** `undefined` for a line that was cut off, or was not written by the log. */
function read(line: string): LogRecord | undefined {
  try {
    const { time, level, component, message, ...fields } = entrySchema.parse(JSON.parse(line));
    return { at: Date.parse(time), level, component: originOf(component, fields), message, fields };
  } catch {
    return undefined;
  }
}

const NEWLINE = 10;

async function* linesFromEnd(path: string, budget: { bytes: number }): AsyncGenerator<string> {
  let file: FileHandle;
  try {
    file = await open(path, 'r');
  } catch {
    // The file was removed meanwhile because of its age.
    return;
  }
  try {
    let { size: end } = await file.stat();
    let rest: Buffer = Buffer.alloc(0);
    while (end > 0 && budget.bytes > 0) {
      const start = Math.max(0, end - CHUNK_BYTES);
      const { buffer, bytesRead } = await file.read(Buffer.alloc(end - start), 0, end - start, start);
      budget.bytes -= bytesRead;
      end = start;
      const known = Buffer.concat([buffer.subarray(0, bytesRead), rest]);
      // The first line may begin before the part that was read.
      const whole = start === 0 ? 0 : known.indexOf(NEWLINE) + 1;
      rest = whole === 0 && start > 0 ? known : known.subarray(0, Math.max(0, whole - 1));
      if (whole === 0 && start > 0) continue;
      for (const line of known.toString('utf8', whole).split('\n').reverse()) if (line !== '') yield line;
    }
  } finally {
    await file.close();
  }
}
