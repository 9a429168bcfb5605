import type { IncomingHttpHeaders } from 'node:http';

/** Where a server of the bot listens. */
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
