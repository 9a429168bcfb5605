import type { Clock } from '@cinnabar/sdk';
import type { BedrockSource } from '../../vendors/source.js';
import { problemOf } from '../anthropic/client.js';
import { sendMessages } from '../anthropic/messages.js';
import { toMessagesParams } from '../anthropic/request.js';
import type { Vendor } from '../http-failure.js';
import { once } from '../once.js';
import type { Provider, ProviderCall } from '../provider.js';
import { failedAttempt } from '../sdk-errors.js';
import { type BedrockSdk, createClient } from './client.js';

const VERSION = { anthropic_version: 'bedrock-2023-05-31' };

/** Anthropic's models through Amazon Bedrock: the same messages, other addresses, signatures and framing. The SDK is loaded with the first request. */
export function createBedrockProvider(source: BedrockSource, load: () => Promise<BedrockSdk>, clock: Clock): Provider {
  const vendor = vendorOf(source);
  const ready = once(async () => {
    const sdk = await load();
    return { sdk, client: createClient(sdk, source) };
  });
  return {
    name: 'bedrock',
    modes: ['chat', 'prefill'],
    async send(call) {
      const { sdk, client } = await ready();
      try {
        return await sendMessages(client, call, VERSION);
      } catch (error) {
        return failedAttempt(error, sdk, problemOf, vendor, clock.now());
      }
    },
    render,
  };
}

/** The SDK moves the model into the address, and says there whether the answer is streamed. */
function render(call: ProviderCall): unknown {
  const { model: _inTheAddress, ...body } = toMessagesParams(call).params;
  return { ...body, ...VERSION };
}

function vendorOf({ baseUrl, credentials }: BedrockSource): Vendor {
  const { host } = new URL(baseUrl);
  return {
    title: 'Bedrock',
    keyVariable: 'AWS_ACCESS_KEY_ID',
    secrets: credentials === undefined ? [] : Object.values(credentials),
    host,
    notFoundHint: 'is the model or inference profile right for this region?',
  };
}
