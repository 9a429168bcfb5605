import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { replaceFile } from '@cinnabar/sdk';

const LOG_FILE = /^(?:cinnabar|errors|audit)-.*\.log(?:\.\d+)?$/;
/** What of an entry says who, where, what and how, and no more than that. */
const KEPT = new Set([
  ...[
    'time',
    'level',
    'component',
    'message',
    'callId',
    'tool',
    'plugin',
    'origin',
    'argumentsHash',
    'policy',
    'outcome',
    'code',
  ],
  ...[
    'startedAt',
    'latencyMs',
    'ranMs',
    'heldBy',
    'decidedBy',
    'actor',
    'at',
    'taskId',
    'channelId',
    'guildId',
    'userId',
  ],
]);
/** Bodies of requests to models hold the words of members without their ids. */
const TRACE = '"level":"trace"';
const FORGOTTEN = '(deleted with the data of the member)';

/**
 * Takes a person's words out of the log files: of every entry about them, and of every trace, only that it happened stays. The files must
 * not be open for writing.
 */
export async function forgetInLogs(dir: string, userId: string): Promise<void> {
  const names = await readdir(dir).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return [];
    throw error;
  });
  for (const name of names.filter((one) => LOG_FILE.test(one))) {
    const path = join(dir, name);
    const text = await readFile(path, 'utf8');
    const isConcerned = (part: string) => part.includes(userId) || part.includes(TRACE);
    if (!isConcerned(text)) continue;
    const lines = text.split('\n').map((line) => (isConcerned(line) ? withoutWords(line) : line));
    await replaceFile(path, lines.join('\n'));
  }
}

function withoutWords(line: string): string {
  try {
    const entry: unknown = JSON.parse(line);
    if (typeof entry !== 'object' || entry === null) return '';
    const kept = Object.entries(entry).map(([key, value]) => [key, KEPT.has(key) ? value : FORGOTTEN] as const);
    return JSON.stringify(Object.fromEntries(kept));
  } catch {
    // Half a line says nothing that can be told apart.
    return '';
  }
}
