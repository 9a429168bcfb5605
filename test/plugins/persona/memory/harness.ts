import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { createFileDriver } from '@cinnabar/core';
import { createMemories, type Memories } from '@cinnabar/plugin-persona/dist/memory/memories.js';
import type { Embed, Memory, NewMemory, Place } from '@cinnabar/plugin-persona/dist/memory/types.js';
import { createManualClock, type ManualClock } from '@cinnabar/sdk/testing';
import { journalsOn } from '../../../core/storage/fixture.js';
import { type Folder, makeFolder } from '../../../support/folder.js';
import { recordingLogger } from '../../../support/logs.js';

export const ANNA = '1001';
export const ANNABEL = '1002';
export const BOB = '1003';
const NAMES: Readonly<Record<string, string>> = { [ANNA]: 'Anna', [ANNABEL]: 'Annabel', [BOB]: 'Bob' };

export const GENERAL: Place = { mind: 'guild', guildId: '500', channelId: '601' };
export const STAFF: Place = { mind: 'guild', guildId: '500', channelId: '602' };
export const ELSEWHERE: Place = { mind: 'guild', guildId: '501', channelId: '701' };
export const DM: Place = { mind: 'guild', guildId: null, channelId: '801' };

interface Options {
  readonly folder?: Folder;
  /** Where they are kept, when it is not the folder. */
  readonly journals?: ReturnType<typeof journalsOn>;
  readonly clock?: ManualClock;
  readonly embed?: Embed;
  readonly capacity?: number;
}

/** Memories in a folder of their own, with a clock that stands still, and short words for what tests do. */
export interface MemoryHarness extends AsyncDisposable {
  readonly memories: Memories;
  readonly clock: ManualClock;
  readonly folder: Folder;
  /** The journals that were loaded, each as often as it was. */
  readonly opened: readonly string[];
  readonly log: ReturnType<typeof recordingLogger>;
  /** Somebody says something in a message of its own; the next thing is said a minute later. */
  say(speaker: string, text: string, more?: Partial<NewMemory>): ReturnType<Memories['add']>;
  /** Texts that a question brings up, the best first. */
  ask(
    query: string,
    more?: { readonly place?: Place; readonly askedBy?: string; readonly limit?: number },
  ): Promise<readonly string[]>;
  standing(place?: Place): Promise<readonly string[]>;
  /** As after a restart of the host; `settle: false` as after a crash. */
  restart(settle?: boolean): Promise<MemoryHarness>;
}

export async function openMemoryHarness(options: Options = {}): Promise<MemoryHarness> {
  const { folder = makeFolder(), clock = createManualClock(), embed, capacity } = options;
  const log = recordingLogger();
  const opened: string[] = [];
  let disposed = false;
  const files = () => createFileDriver({ root: folder.path, journals: folder.path, clock, log });
  const { journals = journalsOn(files()) } = options;
  const memories = createMemories({
    clock,
    random: { id: () => `m${String(++ids).padStart(8, '0')}` },
    log,
    journals: {
      ...journals,
      open(path, definition) {
        opened.push(path.join('/'));
        return journals.open(path, definition);
      },
    },
    // What has crashed does nothing more.
    after: (delayMs, task) => clock.after(delayMs, () => (disposed ? undefined : task())),
    self: () => '9000',
    embed,
    capacity,
  });
  const harness: MemoryHarness = {
    memories,
    clock,
    folder,
    opened,
    log,
    async say(speaker, text, more = {}) {
      clock.advance(60_000);
      const name = NAMES[speaker];
      return memories.add({
        place: GENERAL,
        text,
        speaker,
        speakerName: name,
        people: Object.entries(NAMES).map(([userId, known]) => ({ userId, names: [known] })),
        messageId: messageOf(text),
        visibility: 'guild',
        ...more,
      });
    },
    async ask(query, { place = GENERAL, ...more } = {}) {
      const found = await memories.retrieve({ place, query, ...more });
      return found.map(({ memory }) => memory.text);
    },
    standing: async (place = GENERAL) => (await memories.list(place)).map(({ text }) => text).sort(),
    async restart(settle = true) {
      disposed = true;
      if (settle) await memories.close();
      else await journals.release();
      return openMemoryHarness({ ...options, folder, clock });
    },
    async [Symbol.asyncDispose]() {
      if (disposed) return;
      await memories.close();
      folder[Symbol.dispose]();
    },
  };
  return harness;
}
let ids = 0;

/** Each text has a message of its own, which tests can name by it. */
export const messageOf = (text: string): string =>
  String([...text].reduce((sum, letter) => (sum * 31 + (letter.codePointAt(0) ?? 0)) % 1_000_000_007, 7) + 10_000);

export const refOf = (text: string, { guildId, channelId }: Place = GENERAL) => ({
  guildId,
  channelId,
  messageId: messageOf(text),
});

/** Paths of all files below the folder. */
export function filesIn({ path }: Folder): readonly string[] {
  return readdirSync(path, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name));
}

export const textsOf = (memories: readonly Memory[]): readonly string[] => memories.map(({ text }) => text);
