import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { type Logger, openJournal, type RecordedUse } from '@cinnabar/sdk';
import { recordedUse } from './line.js';
import { hourOf, hourOfFile } from './place.js';
import { byAge, timeOfSnowflake } from './snowflake.js';

/** How many calls are given, and about how much text they may hold together; the latest one is given however long it is. */
export interface HistoryLimits {
  readonly calls: number;
  readonly characters: number;
}

interface Window extends HistoryLimits {
  /** Only calls after this message. */
  readonly since?: string | undefined;
}

/** The calls in a channel's folder, oldest first. Reads the newest files first, and no more of them than it needs. */
export async function readUses(
  folder: string,
  { since, ...limits }: Window,
  log: Logger,
): Promise<readonly RecordedUse[]> {
  // A call never ends before the message that it follows was written.
  const firstHour = since === undefined ? '' : hourOf(timeOfSnowflake(since));
  const found: RecordedUse[][] = [];
  let [count, characters] = [0, 0];
  for (const name of (await hoursIn(folder)).reverse()) {
    if (count >= limits.calls || characters >= limits.characters) break;
    if ((hourOfFile(name) ?? '') < firstHour) break;
    const uses = (await readHour(join(folder, name), log)).filter(
      ({ call }) => since === undefined || byAge(call.messageId, since) >= 0,
    );
    found.unshift([...uses]);
    count += uses.length;
    characters += uses.reduce((sum, use) => sum + charactersOf(use), 0);
  }
  return newest(found.flat(), limits);
}

/** The latest of them that the limits admit. */
export function newest(uses: readonly RecordedUse[], { calls, characters }: HistoryLimits): readonly RecordedUse[] {
  let left = characters;
  let first = uses.length;
  while (first > 0 && uses.length - first < calls) {
    const use = uses[first - 1];
    left -= use === undefined ? 0 : charactersOf(use);
    if (left < 0 && first < uses.length) break;
    first -= 1;
  }
  return uses.slice(first);
}

const CALL_CHARACTERS = 200;
/** Each call is counted once: to write out all of a channel's with every new one takes a tenth of a second. */
const counted = new WeakMap<RecordedUse, number>();

/** About how much text a call holds. */
export function charactersOf(use: RecordedUse): number {
  const known = counted.get(use);
  if (known !== undefined) return known;
  const { call, result } = use;
  const { output } = result;
  const said = typeof output === 'string' ? output : JSON.stringify(output ?? null);
  const characters = CALL_CHARACTERS + said.length + (result.error?.length ?? 0) + JSON.stringify(call.input).length;
  counted.set(use, characters);
  return characters;
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
