import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { type Logger, openJournal, type RecordedUse } from '@cinnabar/sdk';
import { recordedUse } from './line.js';
import { hourOf, hourOfFile } from './place.js';
import { byAge, timeOfSnowflake } from './snowflake.js';

interface Window {
  /** Only calls after this message. */
  readonly since?: string | undefined;
  /** At most so many, the latest. */
  readonly limit: number;
}

/** The calls in a channel's folder, oldest first. Reads the newest files first, and no more of them than it needs. */
export async function readUses(folder: string, { since, limit }: Window, log: Logger): Promise<readonly RecordedUse[]> {
  // A call never ends before the message that it follows was written.
  const firstHour = since === undefined ? '' : hourOf(timeOfSnowflake(since));
  const found: RecordedUse[][] = [];
  let count = 0;
  for (const name of (await hoursIn(folder)).reverse()) {
    if (count >= limit || (hourOfFile(name) ?? '') < firstHour) break;
    const uses = (await readHour(join(folder, name), log)).filter(
      ({ call }) => since === undefined || byAge(call.messageId, since) >= 0,
    );
    found.unshift([...uses]);
    count += uses.length;
  }
  return found.flat().slice(-limit);
}

/** Names of the files of a folder, oldest first. */
export async function hoursIn(folder: string): Promise<string[]> {
  const names = await readdir(folder).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return [];
    throw error;
  });
  return names.filter((name) => hourOfFile(name) !== undefined).sort();
}

export async function readHour(path: string, log: Logger): Promise<readonly RecordedUse[]> {
  const { records, damaged } = await openJournal(path, recordedUse).read();
  if (damaged > 0) log.warn('lines of the tool history could not be read and were passed over', { path, damaged });
  return records;
}
