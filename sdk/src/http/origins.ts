import type { IncomingHttpHeaders } from 'node:http';

interface Allowed {
  /** Beside this machine's own names. */
  readonly hosts: readonly string[];
  readonly origins: readonly string[];
}

const THIS_MACHINE = ['localhost', '127.0.0.1', '[::1]'];

/**
 * Whether a request may come from where it says it does. A web page can make a browser send requests here under its own name (DNS
 * rebinding): such a request has a foreign `Host` or `Origin`. Requests that programs make have no `Origin`.
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
