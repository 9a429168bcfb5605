import { z } from 'zod';
import type { EmbeddingWire } from '../embedding.js';

const PATH = /^\/v1beta\/models\/([^/]+):batchEmbedContents$/;
const CONTENT = z.object({ parts: z.array(z.object({ text: z.string().min(1) })).length(1) });
const BODY = z.object({
  requests: z
    .array(z.object({ model: z.string().min(1), content: CONTENT }))
    .min(1)
    .max(100),
});

/** `POST /v1beta/models/{model}:batchEmbedContents`. */
export const GOOGLE_EMBEDDINGS: EmbeddingWire = {
  match(path, raw) {
    const [, model] = PATH.exec(path) ?? [];
    if (model === undefined) return undefined;
    const body = BODY.safeParse(raw).data;
    const texts = body?.requests.map(({ content }) => content.parts.map(({ text }) => text).join(''));
    return { model: decodeURIComponent(model), texts };
  },
  reply: (vectors) => ({ embeddings: vectors.map((values) => ({ values })) }),
};
