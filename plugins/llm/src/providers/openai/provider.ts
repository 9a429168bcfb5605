import type { Clock } from '@cinnabar/sdk';
import type { OpenAiSource } from '../../vendors/source.js';
import { toFailure } from '../http-failure.js';
import type { Provider } from '../provider.js';
import { failedAttempt } from '../sdk-errors.js';
import { renderChat, sendChat } from './chat.js';
import { createClient, type OpenAiSdk, problemOf, vendorOf } from './client.js';
import { sendEmbeddings } from './embeddings.js';
import { renderResponses, sendResponses } from './responses.js';

/** OpenAI takes more; with long texts that would be too many tokens for one request. */
const MOST_TEXTS = 256;

/** OpenAI, and every server that speaks one of its two APIs. The SDK is loaded with the first request. */
export function createOpenAiProvider(source: OpenAiSource, load: () => Promise<OpenAiSdk>, clock: Clock): Provider {
  const vendor = vendorOf(source);
  const genuine = vendor.host === 'api.openai.com';
  return {
    name: 'openai',
    // A server of one's own may go on with the last message; the setting models says so.
    modes: source.api === 'chat' && !genuine ? ['chat', 'prefill'] : ['chat'],
    async send(call) {
      const sdk = await load();
      const client = createClient(sdk, source);
      try {
        return await (source.api === 'chat'
          ? sendChat(client, call, genuine, source.body)
          : sendResponses(client, call, source.body, (problem) => toFailure(problem, vendor, clock.now())));
      } catch (error) {
        return failedAttempt(error, sdk, problemOf, vendor, clock.now());
      }
    },
    mostTexts: MOST_TEXTS,
    async embed(call) {
      const sdk = await load();
      try {
        return await sendEmbeddings(createClient(sdk, source), call);
      } catch (error) {
        return failedAttempt(error, sdk, problemOf, vendor, clock.now());
      }
    },
    render: (call) =>
      source.api === 'chat' ? renderChat(call, genuine, source.body) : renderResponses(call, source.body),
  };
}
