import { z } from 'zod';
import { type EmbeddingWire, tokensIn } from '../embedding.js';

const BODY = z.object({
  model: z.string().min(1),
  input: z.array(z.string().min(1)).min(1).max(2048),
  encoding_format: z.enum(['float', 'base64']).default('float'),
});

/** `POST /v1/embeddings`. */
export const OPENAI_EMBEDDINGS: EmbeddingWire = {
  match(path, raw) {
    if (path !== '/v1/embeddings') return undefined;
    const body = BODY.safeParse(raw).data;
    return { model: body?.model ?? '', texts: body?.input, base64: body?.encoding_format === 'base64' };
  },
  reply: (vectors, { model, texts = [], base64 = false }) => ({
    object: 'list',
    // The order is by index, not by place.
    data: vectors
      .map((vector, index) => ({ object: 'embedding', index, embedding: base64 ? encode(vector) : vector }))
      .reverse(),
    model,
    usage: { prompt_tokens: tokensIn(texts), total_tokens: tokensIn(texts) },
  }),
};

function encode(vector: readonly number[]): string {
  return Buffer.from(Float32Array.from(vector).buffer).toString('base64');
}
