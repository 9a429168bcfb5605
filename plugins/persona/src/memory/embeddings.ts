import { BudgetExceededError, type Charge, type Clock, type Llm, type Logger } from '@cinnabar/sdk';
import type { MemoryFile, MemoryFiles } from './memory-files.js';
import { decodeVector, encodeVector, isStanding } from './memory-index.js';
import type { Embed, Place } from './types.js';

const BATCH = 64;
/** A provider that fails is left alone for a while. */
const REST_MS = 60_000;

/** Embeddings, where a provider makes them. Without one, and when it fails, words alone decide. */
export function createEmbedding(parts: {
  readonly embed: Embed | undefined;
  readonly files: Pick<MemoryFiles, 'use'>;
  readonly clock: Pick<Clock, 'now'>;
  readonly log: Logger;
}) {
  const { embed, files, clock, log } = parts;
  let restsUntil = Number.NEGATIVE_INFINITY;
  const running = new Map<MemoryFile, Promise<void>>();
  const stopping = new AbortController();

  const vectorsOf = async (texts: readonly string[], charge: Charge, signal: AbortSignal | undefined) => {
    if (embed === undefined || clock.now() < restsUntil) return undefined;
    try {
      const vectors = await embed(texts, charge, signal);
      return vectors?.length === texts.length ? vectors : undefined;
    } catch (error) {
      // A budget of one guild says nothing about the provider.
      if (signal?.aborted === true || error instanceof BudgetExceededError) return undefined;
      restsUntil = clock.now() + REST_MS;
      log.warn('no embeddings were made; words alone decide', { error, texts: texts.length });
      return undefined;
    }
  };

  const fill = async (file: MemoryFile, charge: Charge) => {
    for (;;) {
      const lacking = [...file.index.all()]
        .filter((memory) => isStanding(memory) && file.index.vector(memory.id) === undefined)
        .slice(-BATCH);
      if (lacking.length === 0) return;
      const vectors = await vectorsOf(
        lacking.map(({ text }) => text),
        charge,
        stopping.signal,
      );
      if (vectors === undefined || stopping.signal.aborted) return;
      await file.run(() => {
        // What was deleted or edited meanwhile gets none.
        const current = lacking.flatMap((memory, index) => {
          const vector = vectors[index];
          return vector !== undefined && file.index.get(memory.id)?.text === memory.text
            ? [[memory.id, encodeVector(vector)] as const]
            : [];
        });
        return file.commit({ vectors: current });
      });
    }
  };

  return {
    /** Of a query; `undefined` when there is none to be had. */
    async of(query: string, charge: Charge, signal: AbortSignal | undefined): Promise<Int8Array | undefined> {
      const [vector] = (await vectorsOf([query], charge, signal)) ?? [];
      return vector === undefined ? undefined : decodeVector(encodeVector(vector));
    },
    /** Makes the vectors that standing memories of the file lack, in the background. */
    follow(file: MemoryFile, place: Place, charge: Charge): void {
      if (embed === undefined || running.has(file) || stopping.signal.aborted) return;
      // In use until it is done: a file that is let go meanwhile would be written to beside the one that is loaded after it.
      const work = files
        .use(place, (used) => fill(used, charge))
        .catch((error: unknown) => log.error('embeddings could not be stored', { error }))
        .finally(() => running.delete(file));
      running.set(file, work);
    },
    /** Resolves when nothing is under way. */
    async idle(): Promise<void> {
      stopping.abort();
      await Promise.all(running.values());
    },
  };
}

/** Vectors from the host's language models, where one for embeddings is configured. */
export function embedWith(llm: Pick<Llm, 'embed'>): Embed {
  return async (texts, charge, signal) => {
    const embeddings = await llm.embed(texts, { charge, ...(signal === undefined ? {} : { signal }) });
    return embeddings?.vectors.map((vector) => [...vector]);
  };
}
