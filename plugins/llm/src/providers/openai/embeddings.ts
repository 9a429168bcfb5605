import type { Embeddings } from '@cinnabar/sdk';
import type OpenAI from 'openai';
import { unreadable } from '../http-failure.js';
import type { Attempt, EmbedCall } from '../provider.js';
import { toVector } from '../vector.js';

/** `POST /embeddings`. As numbers: compatible servers do not know the shorter form that the SDK would ask for. */
export async function sendEmbeddings(client: OpenAI, call: EmbedCall): Promise<Attempt<Embeddings>> {
  const { model, texts, signal } = call;
  const answer = await client.embeddings.create({ model, input: [...texts], encoding_format: 'float' }, { signal });
  if (!Array.isArray(answer?.data)) return { ok: false, failure: unreadable('it is not a list of embeddings') };
  const inOrder = answer.data.toSorted((one, other) => one.index - other.index);
  return {
    ok: true,
    reply: {
      vectors: inOrder.map(({ embedding }) => toVector(embedding)),
      model: answer.model || model,
      tokens: answer.usage?.total_tokens ?? 0,
    },
  };
}
