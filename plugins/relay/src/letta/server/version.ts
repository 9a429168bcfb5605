import { BlockList, isIP } from 'node:net';
import type { Letta } from '@letta-ai/letta-client';

/** The version with which the relay was tried. */
export const TRIED = '0.16.8';
/** From this one on, servers take no address of a private network for tools. */
export const REFUSES_PRIVATE_SINCE = '0.16.7';

/** What a Letta server says that it is; `undefined` when it does not say. @throws when it cannot be reached */
export async function versionOf(client: Letta): Promise<string | undefined> {
  const { version } = await client.health();
  return /^\d+\.\d+\.\d+/.test(version) ? version : undefined;
}

/** Whether one version is older than another, by its three numbers. */
export function isOlder(version: string, than: string): boolean {
  const [a, b] = [version, than].map((text) => text.split('.').map((part) => Number.parseInt(part, 10)));
  for (const [index, number] of (b ?? []).entries()) {
    const mine = a?.[index] ?? 0;
    if (mine !== number) return mine < number;
  }
  return false;
}

const INTERNAL_NAMES = /^(localhost|metadata\.google\.internal|.*\.(local|localdomain|localhost|home\.arpa|svc))$/;

const PRIVATE = new BlockList();
for (const [network, bits] of [
  ['0.0.0.0', 8],
  ['10.0.0.0', 8],
  ['100.64.0.0', 10],
  ['127.0.0.0', 8],
  ['169.254.0.0', 16],
  ['172.16.0.0', 12],
  ['192.0.0.0', 24],
  ['192.168.0.0', 16],
  ['198.18.0.0', 15],
] as const)
  PRIVATE.addSubnet(network, bits, 'ipv4');
for (const [network, bits] of [
  ['::', 127],
  ['fc00::', 7],
  ['fe80::', 10],
] as const)
  PRIVATE.addSubnet(network, bits, 'ipv6');

/** Whether an address names a host of a private network; what a name resolves to is not looked at. */
export function isPrivateAddress(url: string): boolean {
  const host = new URL(url).hostname.replace(/^\[|\]$/g, '').replace(/\.$/, '');
  const family = isIP(host);
  if (family === 0) return INTERNAL_NAMES.test(host.toLowerCase());
  return PRIVATE.check(host, family === 4 ? 'ipv4' : 'ipv6');
}
