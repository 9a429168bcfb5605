import type { Clock } from '@cinnabar/sdk';
import type { Provider } from '../provider.js';
import { failedAttempt } from '../sdk-errors.js';
import { type AnthropicSdk, type AnthropicSource, createClient, problemOf, vendorOf } from './client.js';
import { renderMessages, sendMessages } from './messages.js';

/** Anthropic's Messages API. The SDK is loaded with the first request. */
export function createAnthropicProvider(
  source: AnthropicSource,
  load: () => Promise<AnthropicSdk>,
  clock: Clock,
): Provider {
  const vendor = vendorOf(source);
  return {
    name: 'anthropic',
    modes: ['chat', 'prefill'],
    async send(call) {
      const sdk = await load();
      try {
        return await sendMessages(createClient(sdk, source), call);
      } catch (error) {
        return failedAttempt(error, sdk, problemOf, vendor, clock.now());
      }
    },
    render: renderMessages,
  };
}
