import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createMemories, type Memories } from '@cinnabar/plugin-persona/dist/memory/memories.js';
import type { Embed, Place } from '@cinnabar/plugin-persona/dist/memory/types.js';
import { createManualClock } from '@cinnabar/sdk/testing';
import { journalsIn } from '../../core/storage/fixture.js';
import { recordingLogger } from '../../support/logs.js';
import type { Corpus } from './corpus.js';
import type { Finder } from './peers.js';

export const PLACE: Place = { mind: 'guild', guildId: '1', channelId: '2' };

export interface Filled extends AsyncDisposable {
  readonly memories: Memories;
  readonly finder: Finder;
  /** Resolves when each memory has its vector. */
  embedded(): Promise<void>;
  /** How long each addition took. */
  readonly addMs: readonly number[];
}

/** The project's own memory, given every line as it is said: no model has picked or rephrased anything, or named a subject. */
export async function fill(corpus: Corpus, startMs: number, embed?: Embed): Promise<Filled> {
  const folder = mkdtempSync(join(tmpdir(), 'cinnabar-bench-'));
  const clock = createManualClock(startMs);
  let ids = 0;
  let vectors = 0;
  const memories = createMemories({
    journals: journalsIn(folder, clock),
    clock,
    random: { id: () => String(++ids).padStart(12, '0') },
    log: recordingLogger(),
    after: () => undefined,
    embed:
      embed &&
      (async (texts, signal) => {
        const made = await embed(texts, signal);
        vectors += made?.length ?? 0;
        return made;
      }),
  });
  const addMs: number[] = [];
  const people = corpus.speakers.map(({ id, name }) => ({ userId: id, names: [name] }));
  for (const { messageId, speaker, text, at } of corpus.utterances) {
    clock.advance(Math.max(0, at - clock.now()));
    const started = performance.now();
    await memories.add({
      place: PLACE,
      text,
      speaker: speaker.id,
      speakerName: speaker.name,
      people,
      messageId,
      at,
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
    async embedded() {
      // A second look starts what was added while the first was under way.
      while (vectors < corpus.utterances.length) await memories.retrieve({ place: PLACE, limit: 1 });
    },
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
