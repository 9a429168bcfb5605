import type { Clock } from '@cinnabar/sdk';
import type { BedrockSource } from '../../vendors/source.js';
import { problemOf } from '../anthropic/client.js';
import { sendMessages } from '../anthropic/messages.js';
import type { Vendor } from '../http-failure.js';
import { once } from '../once.js';
import type { Provider, ProviderCall } from '../provider.js';
import { failedAttempt } from '../sdk-errors.js';
import { type BedrockSdk, createClient } from './client.js';

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
        return await sendMessages(client, call);
      } catch (error) {
        return failedAttempt(error, sdk, problemOf, vendor, clock.now());
      }
    },
    render: async (call) => bodyOf(call, (await ready()).sdk, source),
  };
}

/** The SDK rewrites the body on its way out: this is what it hands to `fetch`, unsigned and unsent. */
async function bodyOf(call: ProviderCall, sdk: BedrockSdk, source: BedrockSource): Promise<unknown> {
  let body: unknown;
  const client = createClient(sdk, source, async (_url, init) => {
    body = JSON.parse(String(init?.body));
    return Response.json({ message: 'not sent' }, { status: 400 });
  });
  await sendMessages(client, call).catch(() => undefined);
  return body;
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
