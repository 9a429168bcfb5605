import type { Clock } from '@cinnabar/sdk';
import { toFailure } from '../http-failure.js';
import type { Provider } from '../provider.js';
import { failedAttempt } from '../sdk-errors.js';
import { sendChat } from './chat.js';
import { createClient, type OpenAiSdk, type OpenAiSource, problemOf, vendorOf } from './client.js';
import { sendResponses } from './responses.js';

/** OpenAI, and every server that speaks one of its two APIs. The SDK is loaded with the first request. */
export function createOpenAiProvider(source: OpenAiSource, load: () => Promise<OpenAiSdk>, clock: Clock): Provider {
  const vendor = vendorOf(source);
  return {
    name: 'openai',
    modes: ['chat'],
    async send(call) {
      const sdk = await load();
      const client = createClient(sdk, source);
      try {
        return await (source.api === 'chat'
          ? sendChat(client, call, vendor.host === 'api.openai.com')
          : sendResponses(client, call, (problem) => toFailure(problem, vendor, clock.now())));
      } catch (error) {
        return failedAttempt(error, sdk, problemOf, vendor, clock.now());
      }
    },
  };
}
