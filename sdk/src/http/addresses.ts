import { type LookupAddress, promises } from 'node:dns';
import type { IncomingHttpHeaders } from 'node:http';
import { BlockList, isIP, type LookupFunction } from 'node:net';
import { UserError } from '../errors.js';
import { t } from '../text/language.js';

/**
 * Which IP addresses belong to the public internet: addresses from members or models are requested from nowhere else.
 * https://www.iana.org/assignments/iana-ipv4-special-registry and https://www.iana.org/assignments/iana-ipv6-special-registry
 */

const SPECIAL_4 = listOf('ipv4', [
  ['0.0.0.0', 8],
  ['10.0.0.0', 8],
  ['100.64.0.0', 10],
  ['127.0.0.0', 8],
  ['169.254.0.0', 16],
  ['172.16.0.0', 12],
  ['192.0.0.0', 24],
  ['192.0.2.0', 24],
  ['192.31.196.0', 24],
  ['192.52.193.0', 24],
  ['192.88.99.0', 24],
  ['192.168.0.0', 16],
  ['192.175.48.0', 24],
  ['198.18.0.0', 15],
  ['198.51.100.0', 24],
  ['203.0.113.0', 24],
  ['224.0.0.0', 3],
]);

/**
 * All ranges that have been assigned to the public so far. Addresses that embed an IPv4 address (mapped, NAT64) are outside of these ranges, or in `SPECIAL_6`.
 */
const UNICAST_6 = listOf('ipv6', [['2000::', 3]]);
const SPECIAL_6 = listOf('ipv6', [
  // Includes Teredo, ORCHID and benchmarks.
  ['2001::', 23],
  ['2001:db8::', 32],
  // 6to4.
  ['2002::', 16],
  ['2620:4f:8000::', 48],
  ['3fff::', 20],
]);

function listOf(family: 'ipv4' | 'ipv6', networks: readonly (readonly [network: string, prefix: number])[]): BlockList {
  const list = new BlockList();
  for (const [network, prefix] of networks) list.addSubnet(network, prefix, family);
  return list;
}

/** Whether a text is an IP address of the public internet, as against one of this machine, a private network, documentation or another special use. */
export function isPublicAddress(address: string): boolean {
  const family = isIP(address);
  if (family === 4) return !SPECIAL_4.check(address, 'ipv4');
  return family === 6 && UNICAST_6.check(address, 'ipv6') && !SPECIAL_6.check(address, 'ipv6');
}

/** The IP address used as the host in a URL, without its brackets; `undefined` for a name. */
export function literalAddressOf({ hostname }: URL): string | undefined {
  const literal = hostname.replace(/^\[|\]$/g, '').replace(/\.$/, '');
  return isIP(literal) === 0 ? undefined : literal;
}

/** Resolves a host name to all its addresses. */
export type ResolveName = (hostname: string) => Promise<readonly LookupAddress[]>;

/**
 * The `lookup` of a connection that reaches public addresses only. The address that is checked is the one that is connected to, so that a name whose addresses
 * change in between (DNS rebinding) cannot reach another one. A name is refused when any of its addresses is not public, and when it has none. A URL with an IP
 * address instead of a name is not looked up: check it with `isPublicAddress`.
 * @example https.request(url, { lookup: publicLookup() });
 */
export function publicLookup({
  resolve = (hostname) => promises.lookup(hostname, { all: true }),
  isPublic = isPublicAddress,
}: {
  readonly resolve?: ResolveName;
  readonly isPublic?: (address: string) => boolean;
} = {}): LookupFunction {
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

/** The error for a host that is not on the public internet. */
export function notPublic(host: string): UserError {
  return new UserError(t('{host} is not a public address on the internet, so it is not fetched.', { host }));
}

/** The address on which a server of the bot listens. */
export interface ListenAddress {
  readonly host: string;
  readonly port: number;
}

const LOOPBACK = '127.0.0.1';

/** `off`, `8808`, `0.0.0.0:8808` or `[::1]:8808`; without a host only this machine is served. `undefined`: none of these. */
export function parseListen(text: string): ListenAddress | 'off' | undefined {
  if (text === 'off' || text === '') return 'off';
  const match = /^(?:(\[[\da-fA-F:]+\]|[\w.-]+):)?(\d{1,5})$/.exec(text);
  const port = Number(match?.[2]);
  if (match === null || port > 65_535) return undefined;
  return { host: match[1]?.replace(/^\[|\]$/g, '') ?? LOOPBACK, port };
}

/** Whether only this machine can reach it. A name other than `localhost` may be anything. */
export function isLoopback({ host }: ListenAddress): boolean {
  return host === 'localhost' || host === '::1' || /^127(\.\d{1,3}){3}$/.test(host);
}

/** `http://127.0.0.1:9464`. @param port the one that the system chose, where the address has 0 */
export function urlOf({ host }: ListenAddress, port: number): string {
  return `http://${host.includes(':') ? `[${host}]` : host}:${port}`;
}

interface Allowed {
  /** In addition to this machine's own names. */
  readonly hosts: readonly string[];
  readonly origins: readonly string[];
}

const THIS_MACHINE = ['localhost', '127.0.0.1', '[::1]'];

/**
 * Whether a request may come from its stated origin. A web page can make a browser send requests here under its own name (DNS rebinding): such a request has a
 * foreign `Host` or `Origin`. Requests that programs make have no `Origin`.
 * https://modelcontextprotocol.io/specification/2025-11-25/basic/transports#security-warning
 */
export function isAllowedSource({ host, origin }: IncomingHttpHeaders, { hosts, origins }: Allowed): boolean {
  const names = [...THIS_MACHINE, ...hosts.map((name) => name.toLowerCase())];
  if (!names.includes(hostnameOf(`http://${host ?? ''}`) ?? '')) return false;
  if (origin === undefined || origins.includes(origin)) return true;
  return THIS_MACHINE.includes(hostnameOf(origin) ?? '');
}

function hostnameOf(url: string): string | undefined {
  return URL.canParse(url) ? new URL(url).hostname.toLowerCase() : undefined;
}
