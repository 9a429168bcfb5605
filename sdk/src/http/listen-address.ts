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
