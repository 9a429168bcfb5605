import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { removeFiles, type Sequences } from '@cinnabar/sdk';
import { hourOf, hourOfFile } from './place.js';
import { hoursIn } from './reader.js';

const DAY_MS = 24 * 60 * 60_000;

export interface RetentionParts {
  /** The bot's own folder. */
  readonly root: string;
  readonly sequences: Sequences;
  readonly now: number;
  /** 0: whatever their age. */
  readonly days: number;
  /** Of all channels together. */
  readonly bytes: number;
}

/**
 * Removes the files of calls that are too old, and the oldest beyond the size. The file of the present hour stays: it is being written.
 * @returns the channels of which files are gone
 */
export async function removeOldCalls({
  root,
  sequences,
  now,
  days,
  bytes,
}: RetentionParts): Promise<ReadonlySet<string>> {
  const oldest = days === 0 ? '' : hourOf(now - days * DAY_MS);
  const files = (await filesBelow(root)).sort((one, other) => (one.hour < other.hour ? -1 : 1));
  let excess = files.reduce((sum, { size }) => sum + size, 0) - bytes;
  const channels = new Set<string>();
  for (const { channelId, name, hour, size } of files) {
    if (hour === hourOf(now) || (hour >= oldest && excess <= 0)) continue;
    await sequences.run(channelId, () => removeFiles(join(root, channelId), [name]));
    excess -= size;
    channels.add(channelId);
  }
  return channels;
}

async function filesBelow(root: string) {
  const channels = await readdir(root).catch(() => []);
  const found = await Promise.all(
    channels.map(async (channelId) => {
      const names = await hoursIn(join(root, channelId)).catch(() => []);
      return Promise.all(
        names.map(async (name) => {
          const size = await stat(join(root, channelId, name)).then(
            (file) => file.size,
            () => 0,
          );
          return { channelId, name, hour: hourOfFile(name) ?? '', size };
        }),
      );
    }),
  );
  return found.flat();
}
