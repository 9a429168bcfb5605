import { type StandIn, type StandInOptions, startStandIn } from '../server.js';
import { GOOGLE_EMBEDDINGS } from './embedding-wire.js';
import { GEMINI_WIRE } from './wire.js';

/**
 * Google's Gemini API on loopback: `generateContent`, streamed and not, and `batchEmbedContents`. Requests that the real API would refuse get a 400.
 * @example
 * await using google = await startGoogleStandIn({ steps: [say('Hello!')] });
 * const client = new GoogleGenAI({ apiKey: 'any', httpOptions: { baseUrl: google.baseUrl } });
 */
export function startGoogleStandIn(options: StandInOptions = {}): Promise<StandIn> {
  return startStandIn(options, [GEMINI_WIRE], '', { embeddings: GOOGLE_EMBEDDINGS });
}
