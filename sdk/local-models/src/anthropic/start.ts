import { type StandIn, type StandInOptions, startStandIn } from '../server.js';
import { MESSAGES_WIRE } from './wire.js';

/**
 * Anthropic's API on loopback: `POST /v1/messages`, streamed and not. Requests that the real API would refuse get a 400.
 * @example
 * await using anthropic = await startAnthropicStandIn({ steps: [say('Hello!'), fail(529), callTool('roll', { sides: 6 })] });
 * const client = new Anthropic({ apiKey: 'any', baseURL: anthropic.baseUrl });
 */
export function startAnthropicStandIn(options: StandInOptions = {}): Promise<StandIn> {
  return startStandIn(options, [MESSAGES_WIRE], '');
}
