import type { LookupAddress } from 'node:dns';
import type { LookupFunction } from 'node:net';
import { notPublic } from './address-check.js';

/** Every address of a name. */
export type Resolve = (hostname: string) => Promise<readonly LookupAddress[]>;

/**
 * The look-up that a connection itself makes: the address that was checked is the one that is connected to, so a name whose answer
 * changes in between (DNS rebinding) gains nothing. A name that leads anywhere private is refused as a whole.
 */
export function guardedLookup(resolve: Resolve, isPublic: (address: string) => boolean): LookupFunction {
  return (hostname, options, callback) => {
    resolve(hostname).then(
      (addresses) => {
        const [first] = addresses;
        if (first === undefined || !addresses.every(({ address }) => isPublic(address))) {
          callback(notPublic(hostname), '', 0);
        } else if (options.all === true) callback(null, [...addresses]);
        else callback(null, first.address, first.family);
      },
      (error: unknown) => callback(error instanceof Error ? error : new Error(String(error)), '', 0),
    );
  };
}
