import { z } from 'zod';
import { type EmbeddingWire, tokensIn } from '../embedding.js';
import { type StandIn, type StandInOptions, startStandIn } from '../server.js';
import { CHAT_WIRE } from './chat.js';
import { RESPONSES_WIRE } from './responses.js';

const MODELS = { object: 'list', data: [{ id: 'stand-in', object: 'model', created: 0, owned_by: 'cinnabar' }] };

/**
 * OpenAI's API on loopback: `POST /v1/responses` and `/v1/chat/completions`, streamed and not, `/v1/embeddings`, and `GET /v1/models`.
 * Requests that the real API would refuse get a 400.
 * @example
 * await using openai = await startOpenAiStandIn({ steps: [callTool('roll', { sides: 6 }), say('A four.')] });
 * const client = new OpenAI({ apiKey: 'any', baseURL: openai.baseUrl });
 */
export function startOpenAiStandIn(options: StandInOptions = {}): Promise<StandIn> {
  return startStandIn(options, [RESPONSES_WIRE, CHAT_WIRE], '/v1', {
    documents: { '/v1/models': MODELS },
    embeddings: OPENAI_EMBEDDINGS,
  });
}

const BODY = z.object({
  model: z.string().min(1),
  input: z.array(z.string().min(1)).min(1).max(2048),
  encoding_format: z.enum(['float', 'base64']).default('float'),
});

/** `POST /v1/embeddings`. */
const OPENAI_EMBEDDINGS: EmbeddingWire = {
  match(path, raw) {
    if (path !== '/v1/embeddings') return undefined;
    const body = BODY.safeParse(raw).data;
    return { model: body?.model ?? '', texts: body?.input, base64: body?.encoding_format === 'base64' };
  },
  reply: (vectors, { model, texts = [], base64 = false }) => ({
    object: 'list',
    // Sent in reverse: clients have to order the vectors by `index`.
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
