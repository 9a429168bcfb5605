import type { LookupAddress } from 'node:dns';
import type { LookupFunction } from 'node:net';
import { UserError } from '@cinnabar/sdk';
import ipaddr from 'ipaddr.js';

/**
 * Whether an address is out on the internet: not of this machine, its network, its provider's, nor of documentation or benchmarks.
 * An IPv6 address that carries an IPv4 one inside (mapped, NAT64, 6to4, Teredo) is none: where it leads is not for us to guess.
 * https://www.iana.org/assignments/iana-ipv4-special-registry
 */
export function isPublicAddress(address: string): boolean {
  return ipaddr.isValid(address) && ipaddr.parse(address).range() === 'unicast' && !isInside(address);
}

/**
 * Ranges that count as ordinary ones for the library: IPv4 addresses in IPv6 form and site-local ones, both deprecated, the discard-only
 * prefix, and NAT64 for local use.
 */
const INSIDE = ['::/96', 'fec0::/10', '100::/64', '64:ff9b:1::/48'].map((range) => ipaddr.parseCIDR(range));

function isInside(address: string): boolean {
  const parsed = ipaddr.parse(address);
  return parsed.kind() === 'ipv6' && INSIDE.some((range) => parsed.match(range));
}

const LONGEST_URL = 2_000;

export interface UrlRules {
  /** Ports that may be named; those of http and https always may. */
  readonly ports: readonly number[];
  isPublic(address: string): boolean;
}

/**
 * Reads an address that a model or a page has given. What a name leads to is checked when it is resolved.
 * @throws UserError with the reason why it is not fetched
 */
export function checkUrl(text: string, { ports, isPublic }: UrlRules): URL {
  if (text.length > LONGEST_URL) throw new UserError(`The address is longer than ${LONGEST_URL} characters.`);
  if (!URL.canParse(text)) throw new UserError('That is not a complete address, such as https://example.org/page.');
  const url = new URL(text);
  if (url.protocol !== 'https:' && url.protocol !== 'http:') {
    throw new UserError(`Only http and https addresses are fetched, not ${url.protocol}`);
  }
  if (url.username !== '' || url.password !== '') {
    throw new UserError('Addresses with a user name or password are not fetched.');
  }
  if (url.port !== '' && !ports.includes(Number(url.port))) throw new UserError(`Port ${url.port} is not fetched.`);
  // Decimal, octal and short forms have become plain ones by now: the URL parser does that.
  const literal = url.hostname.replace(/^\[|\]$/g, '');
  if (ipaddr.isValid(literal)) {
    if (!isPublic(literal)) throw notPublic(url.hostname);
  } else if (isLocalName(url.hostname)) throw notPublic(url.hostname);
  return url;
}

const notPublic = (host: string) =>
  new UserError(`${host} is not a public address on the internet, so it is not fetched.`);

/** Names that no public resolver knows, and that a private one may. https://www.rfc-editor.org/rfc/rfc6761 */
const LOCAL =
  /(^|\.)(localhost|local|internal|intranet|lan|home|corp|private|home\.arpa|localdomain|onion|test|invalid)\.?$/i;

function isLocalName(hostname: string): boolean {
  return LOCAL.test(hostname) || !hostname.replace(/\.$/, '').includes('.');
}

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
