/** Loaded before a cluster process: resolves the host name of the local Discord to that process's proxy. */
import dns from 'node:dns';
import { syncBuiltinESMExports } from 'node:module';

/** Format: `host=address`. */
const [host = '', address = ''] = (process.env.CAMPAIGN_RESOLVE ?? '').split('=');
const { lookup } = dns;
// Node's sockets request one address or, when they try several, a list.
const replaced = (hostname: string, options: unknown, callback: unknown): void => {
  const done = typeof options === 'function' ? options : callback;
  if (hostname !== host || typeof done !== 'function')
    return void Reflect.apply(lookup, dns, [hostname, options, callback]);
  const wantsAll = typeof options === 'object' && options !== null && 'all' in options && options.all === true;
  process.nextTick(() => (wantsAll ? done(null, [{ address, family: 4 }]) : done(null, address, 4)));
};
Object.assign(dns, { lookup: replaced });
syncBuiltinESMExports();
