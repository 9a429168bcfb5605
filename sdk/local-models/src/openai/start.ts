import { type StandIn, type StandInOptions, startStandIn } from '../server.js';
import { CHAT_WIRE } from './chat-wire.js';
import { OPENAI_EMBEDDINGS } from './embedding-wire.js';
import { RESPONSES_WIRE } from './responses-wire.js';

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
