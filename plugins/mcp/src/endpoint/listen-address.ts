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
