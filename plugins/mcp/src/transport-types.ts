import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js';

/** The SDK's HTTP transports, whose accessors may be `undefined` where its interface leaves properties out. */
type LooseTransport = { [K in keyof Transport]: Transport[K] | undefined } & Pick<
  Transport,
  'start' | 'send' | 'close'
>;

/** One of the SDK's transports as the SDK takes it: its types were not written for `exactOptionalPropertyTypes`. */
export function asTransport(transport: LooseTransport): Transport {
  return transport as Transport;
}
