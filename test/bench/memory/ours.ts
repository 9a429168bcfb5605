import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createMemories } from '@cinnabar/plugin-persona/memory/memories';
import type { Memories, Place } from '@cinnabar/plugin-persona/memory/types';
import { createManualClock } from '@cinnabar/sdk/testing';
import { recordingLogger } from '../../support/logs.js';
import type { Corpus } from './corpus.js';
import type { Finder } from './peers.js';

export const PLACE: Place = { mind: 'guild', guildId: '1', channelId: '2' };

export interface Filled extends AsyncDisposable {
  readonly memories: Memories;
  readonly finder: Finder;
  /** How long each addition took. */
  readonly addMs: readonly number[];
}

/** The project's own memory, told every line as it is said: no model has picked or rephrased anything, and nobody said whom it is about. */
export async function fill(corpus: Corpus, startMs: number): Promise<Filled> {
  const folder = mkdtempSync(join(tmpdir(), 'cinnabar-bench-'));
  const clock = createManualClock(startMs);
  let ids = 0;
  const memories = createMemories({
    folder: async () => folder,
    clock,
    random: { id: () => String(++ids).padStart(12, '0') },
    log: recordingLogger(),
    after: () => undefined,
  });
  const addMs: number[] = [];
  const people = corpus.speakers.map(({ id, name }) => ({ userId: id, names: [name] }));
  for (const { messageId, speaker, text, at } of corpus.utterances) {
    clock.advance(at - clock.now());
    const started = performance.now();
    await memories.add({
      place: PLACE,
      text,
      speaker: speaker.id,
      speakerName: speaker.name,
      people,
      messageId,
      visibility: 'guild',
    });
    addMs.push(performance.now() - started);
  }
  await memories.messageDeleted(
    [...corpus.deleted].map((messageId) => ({ guildId: '1', channelId: PLACE.channelId, messageId })),
  );
  return {
    memories,
    addMs,
    finder: {
      name: 'ours',
      async find({ text, askedBy }, limit) {
        const found = await memories.retrieve({ place: PLACE, query: text, askedBy, limit });
        return found.map(({ memory }) => memory.messageId ?? '');
      },
    },
    async [Symbol.asyncDispose]() {
      await memories.close();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
