import type { Embeddings } from '@cinnabar/sdk';
import type { GoogleGenAI } from '@google/genai';
import type { Attempt, EmbedCall } from '../provider.js';
import { toVector } from '../vector.js';

/** The API does not count the tokens of embeddings; of most languages they have about this length. */
const CHARACTERS_PER_TOKEN = 4;

/** `batchEmbedContents`. Each text is a content of its own: as bare texts, some models would make one vector of all. */
export async function sendEmbeddings(client: GoogleGenAI, call: EmbedCall): Promise<Attempt<Embeddings>> {
  const { model, texts, signal } = call;
  const answer = await client.models.embedContent({
    model,
    contents: texts.map((text) => ({ role: 'user', parts: [{ text }] })),
    config: { abortSignal: signal },
  });
  const vectors = (answer.embeddings ?? []).map(({ values }) => toVector(values));
  const tokens = texts.reduce((sum, { length }) => sum + Math.ceil(length / CHARACTERS_PER_TOKEN), 0);
  return { ok: true, reply: { vectors, model, tokens } };
}
