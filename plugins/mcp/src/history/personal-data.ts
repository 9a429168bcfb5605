import { readdir, readFile } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import {
  decodeLine,
  FORGOTTEN,
  findPlace,
  isOf,
  type KeyedMutex,
  type Logger,
  leftUnfinished,
  type PersonalData,
  type Provenance,
  type RecordedUse,
  removeFiles,
  replaceFile,
} from '@cinnabar/sdk';
import type { Client } from 'discord.js';
import { type HistoryJournal, hoursIn, recordedUse } from './files.js';
import { type HistoryStore, readHour } from './history.js';

const WITHHELD = '(from a place that you cannot read now, or deleted there)';

interface Parts {
  readonly history: HistoryStore;
  readonly journal: HistoryJournal;
  readonly mutex: KeyedMutex;
  readonly log: Logger;
  readonly provenance: Pick<Provenance, 'mayHave'>;
  readonly client: Client;
  /** The bot's own folder. */
  root(): string;
  folderOf(channelId: string): string;
}

/** The calls that one member asked for, over all channels and hours. */
export function historyOf({ history, journal, mutex, log, provenance, client, root, folderOf }: Parts): PersonalData {
  /**
   * What they may not read any more is not theirs because they asked for it once; nor is what a model wrote as arguments where they cannot read now what
   * it had read there. An agent writes from all the places that it lives in, with their rights, and not to them.
   */
  const asTheirs = async (use: RecordedUse, mayHaveWords: boolean, userId: string) => {
    const { call, result, timestamp } = use;
    if (!mayHaveWords || call.identity !== undefined)
      return { call: { id: call.id, name: call.name, input: WITHHELD }, timestamp };
    if (result.error !== undefined || (await provenance.mayHave(result.sources, userId))) return use;
    return { ...use, result: { callId: result.callId, output: WITHHELD } };
  };

  const channels = async () => (await readdir(root()).catch(() => [])).filter((name) => /^\d+$/.test(name));

  return {
    async export(userId) {
      const found: Record<string, unknown> = {};
      for (const channelId of await channels()) {
        const folder = folderOf(channelId);
        const hours = await Promise.all((await hoursIn(folder)).map((name) => readHour(join(folder, name), log)));
        const theirs = hours.flat().filter(({ call }) => call.userId === userId);
        if (theirs.length === 0) continue;
        const mayHaveWords = await provenance.mayHave([await findPlace(client, channelId)], userId);
        found[channelId] = await Promise.all(theirs.map((use) => asTheirs(use, mayHaveWords, userId)));
      }
      return found;
    },
    async forget(userId) {
      for (const channelId of await channels()) {
        await mutex.run(channelId, async () => {
          const folder = folderOf(channelId);
          await journal.release(folder);
          // What a crash left of writing a file anew may hold their calls, too.
          await removeFiles(folder, leftUnfinished(folder, await readdir(folder)));
          for (const name of await hoursIn(folder)) await withoutWordsOf(userId, join(folder, name));
          history.forgetCached(channelId);
        });
      }
    },
  };
}

/** Whatever else is in the file stays as it is, torn lines too. */
async function withoutWordsOf(userId: string, path: string): Promise<void> {
  const lines = (await readFile(path, 'utf8')).split('\n');
  const kept = lines.flatMap((line) => {
    const use = decodeLine(line, recordedUse)?.record;
    if (use === undefined) return [line];
    if (use.call.userId === userId) return [];
    return [isOf(use.result.sources, userId) ? JSON.stringify(withoutWords(use)) : line];
  });
  if (kept.length === lines.length && kept.every((line, index) => line === lines[index])) return;
  if (kept.every((line) => line.trim() === '')) return removeFiles(dirname(path), [basename(path)]);
  await replaceFile(path, kept.join('\n'));
}

/** Another member's call stays; what it returned held words of the one who is forgotten. */
function withoutWords({ result, ...use }: RecordedUse): RecordedUse {
  return { ...use, result: { callId: result.callId, output: null, error: FORGOTTEN } };
}
