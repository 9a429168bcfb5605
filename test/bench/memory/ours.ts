import { createManualClock } from '@cinnabar/sdk/testing';
import { GENERAL, type MemoryHarness, openMemoryHarness } from '../../plugins/persona/memory/harness.js';
import type { Corpus } from './corpus.js';
import type { trigramVectors } from './embedding.js';
import type { Finder } from './peers.js';

export interface Filled extends AsyncDisposable {
  readonly memories: MemoryHarness['memories'];
  readonly finder: Finder;
  /** Resolves when each memory has its vector. */
  embedded(): Promise<void>;
  /** The duration of each addition. */
  readonly addMs: readonly number[];
}

/** The project's memory, which receives every line as it is written: no model selects or rephrases anything, or names a subject. */
export async function fill(corpus: Corpus, startMs: number, embed?: typeof trigramVectors): Promise<Filled> {
  const clock = createManualClock(startMs);
  let vectors = 0;
  const counted: typeof embed = async (texts) => {
    const made = (await embed?.(texts)) ?? [];
    vectors += made.length;
    return made;
  };
  const harness = await openMemoryHarness({ clock, ...(embed && { embed: counted }) });
  const { memories } = harness;
  const addMs: number[] = [];
  const people = corpus.speakers.map(({ id, name }) => ({ userId: id, names: [name] }));
  for (const { messageId, speaker, text, at } of corpus.utterances) {
    clock.advance(Math.max(0, at - clock.now()));
    const started = performance.now();
    await memories.add({
      place: GENERAL,
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
    [...corpus.deleted].map((messageId) => ({ guildId: GENERAL.guildId, channelId: GENERAL.channelId, messageId })),
  );
  return {
    memories,
    addMs,
    async embedded() {
      // A second pass starts the requests for memories that were added during the first one.
      while (vectors < corpus.utterances.length) await memories.retrieve({ place: GENERAL, limit: 1 });
    },
    finder: {
      name: 'ours',
      async find({ text, askedBy }, limit) {
        const found = await memories.retrieve({ place: GENERAL, query: text, askedBy, limit });
        return found.map(({ memory }) => memory.messageId ?? '');
      },
    },
    [Symbol.asyncDispose]: () => harness[Symbol.asyncDispose](),
  };
}
