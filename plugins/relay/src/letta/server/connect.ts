import { OperatorError } from '@cinnabar/sdk';
import type { Letta } from '@letta-ai/letta-client';

/** Where Letta itself serves agents. */
const CLOUD = 'https://api.letta.com';

export interface ServerAddress {
  /** Of a self-hosted server; by default Letta's cloud. */
  readonly baseUrl?: string | undefined;
  readonly apiKey?: string | undefined;
}

/** The client, made when it is first wanted: whoever has no relay does not load its library. */
export type Connect = () => Promise<Letta>;

/**
 * Never repeats a request by itself: that is the queue's business, which knows what was sent before.
 * @throws OperatorError at once when the address is none that a server can have, or the cloud would be asked without a key
 */
export function createConnect({ baseUrl = CLOUD, apiKey }: ServerAddress): Connect {
  const url = URL.canParse(baseUrl) ? new URL(baseUrl) : undefined;
  if (url === undefined || !['http:', 'https:'].includes(url.protocol)) {
    throw misconfigured(
      'LETTA_BASE_URL is not an address of a Letta server: it has to begin with http:// or https://.',
    );
  }
  if (url.username !== '' || url.password !== '') {
    throw misconfigured('LETTA_BASE_URL must not contain a user or a password: the key belongs in LETTA_API_KEY.');
  }
  if (url.origin === CLOUD && (apiKey === undefined || apiKey === '')) {
    throw misconfigured("Letta's cloud needs a key: set LETTA_API_KEY, or LETTA_BASE_URL for a server of your own.");
  }
  let client: Promise<Letta> | undefined;
  const load = async () => {
    const { Letta } = await import('@letta-ai/letta-client');
    // `null`, not left out: the library would look for a key and a project in the environment by itself.
    return new Letta({ baseURL: baseUrl, apiKey: apiKey ?? null, projectID: null, maxRetries: 0, logLevel: 'off' });
  };
  return () => {
    client ??= load();
    return client;
  };
}

function misconfigured(reason: string): OperatorError {
  return new OperatorError(reason, 'The way to the Letta server is not set up. The bot’s owner can see why.');
}
