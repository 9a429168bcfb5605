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
