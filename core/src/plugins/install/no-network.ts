import dgram from 'node:dgram';
import dns from 'node:dns';
import { syncBuiltinESMExports } from 'node:module';
import net from 'node:net';

/**
 * Closes the network of this process for whatever is loaded after it. Node's permissions know of no network before Node 25, and forbid what would
 * lead around this: other threads, programs, native code and Node's own bindings.
 */
export function denyNetwork(): void {
  const doors: readonly (readonly [object, readonly string[]])[] = [
    // Of all that connects or listens: HTTP, TLS and `fetch` do it by these, too.
    [net.Socket.prototype, ['connect']],
    [net.Server.prototype, ['listen']],
    [net, ['_createServerHandle']],
    [dgram, ['createSocket', 'Socket', '_createSocketHandle']],
    [dns, questionsOf(dns)],
    [dns.promises, questionsOf(dns.promises)],
  ];
  for (const [owner, names] of doors)
    for (const name of names)
      Object.defineProperty(owner, name, { value: refuse, writable: false, configurable: false, enumerable: true });
  syncBuiltinESMExports();
}

const questionsOf = (module: object): readonly string[] =>
  Object.entries(module).flatMap(([name, value]) =>
    typeof value === 'function' && !/^[gs]et/.test(name) ? [name] : [],
  );

/** A function that can be called with `new`. */
function refuse(): never {
  throw Object.assign(new Error('Access to the network has been restricted'), { code: 'ERR_ACCESS_DENIED' });
}
