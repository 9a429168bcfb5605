import { type StandIn, type StandInOptions, startStandIn } from '../server.js';
import { BEDROCK_WIRE } from './wire.js';

/**
 * Amazon Bedrock on loopback, as far as it serves Anthropic's models, streamed in AWS's own framing and not. `key` is the access key;
 * signatures are not checked.
 * @example
 * await using bedrock = await startBedrockStandIn({ steps: [say('Hello!')] });
 * const client = new AnthropicBedrock({ awsAccessKey: 'any', awsSecretKey: 'any', awsRegion: 'eu-west-1', baseURL: bedrock.baseUrl });
 */
export function startBedrockStandIn(options: StandInOptions = {}): Promise<StandIn> {
  return startStandIn(options, [BEDROCK_WIRE], '');
}
