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
  /** The journals, when they are not in the folder. */
  readonly journals?: ReturnType<typeof journalsOn>;
  readonly clock?: ManualClock;
  readonly embed?: Embed;
  readonly capacity?: number;
}

/** Memories in a separate folder, with a manual clock, and short functions for tests. */
export interface MemoryHarness extends AsyncDisposable {
  readonly memories: Memories;
  readonly clock: ManualClock;
  readonly folder: Folder;
  /** The journals that were loaded, with repetitions. */
  readonly opened: readonly string[];
  readonly log: ReturnType<typeof recordingLogger>;
  /** Adds a statement with a separate message; the next one is a minute later. */
  say(speaker: string, text: string, more?: Partial<NewMemory>): ReturnType<Memories['add']>;
  /** Texts that a question retrieves, best first. */
  ask(
    query: string,
    more?: { readonly place?: Place; readonly askedBy?: string; readonly limit?: number },
  ): Promise<readonly string[]>;
  standing(place?: Place): Promise<readonly string[]>;
  /** Simulates a restart of the host; with `settle: false`, a crash. */
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
    // After a crash no timer runs.
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

/** The id of the message with a text: each text has a separate message. */
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
