import dns from 'node:dns';
import { mock } from 'node:test';

/** The host name of the gateway. */
export const GATEWAY_HOST = 'gateway.cinnabar.test';

/** `there`: the local Discord. `elsewhere`: an address without a server. `unknown`, `unanswered`: name resolution fails. */
export type Resolution = 'there' | 'elsewhere' | 'unknown' | 'unanswered';

/** Controls the name resolution of the gateway's host in this process. Each attempt to connect resolves it once. */
export interface NameServer extends Disposable {
  resolution: Resolution;
  readonly lookups: number;
}

type Callback = (error: Error | null, address?: unknown, family?: number) => void;

export function takeOverNames(): NameServer {
  const original = dns.lookup;
  let resolution: Resolution = 'there';
  let lookups = 0;

  const resolve = (all: boolean, callback: Callback) => {
    lookups += 1;
    if (resolution === 'unknown' || resolution === 'unanswered') {
      const code = resolution === 'unknown' ? 'ENOTFOUND' : 'EAI_AGAIN';
      callback(Object.assign(new Error(`getaddrinfo ${code} ${GATEWAY_HOST}`), { code }));
      return;
    }
    const address = resolution === 'there' ? '127.0.0.1' : '127.0.0.2';
    if (all) callback(null, [{ address, family: 4 }]);
    else callback(null, address, 4);
  };
  const replaced = mock.method(dns, 'lookup', (hostname: string, options: dns.LookupOptions, callback: Callback) => {
    if (hostname !== GATEWAY_HOST) return original(hostname, options, callback);
    process.nextTick(resolve, options.all === true, callback);
    return undefined;
  });

  return {
    get resolution() {
      return resolution;
    },
    set resolution(next) {
      resolution = next;
    },
    get lookups() {
      return lookups;
    },
    [Symbol.dispose]: () => replaced.mock.restore(),
  };
}
