import type { Llm } from '@cinnabar/sdk';
import type { Embed } from './memory/types.js';

/** Vectors from the host's language models, where one for embeddings is configured. */
export function embedWith(llm: Pick<Llm, 'embed'>): Embed {
  return async (texts, signal) => {
    const embeddings = await llm.embed(texts, signal === undefined ? {} : { signal });
    return embeddings?.vectors.map((vector) => [...vector]);
  };
}
