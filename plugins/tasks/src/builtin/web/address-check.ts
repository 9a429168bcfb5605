import { UserError } from '@cinnabar/sdk';
import ipaddr from 'ipaddr.js';

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

export const notPublic = (host: string) =>
  new UserError(`${host} is not a public address on the internet, so it is not fetched.`);

/** Names that no public resolver knows, and that a private one may. https://www.rfc-editor.org/rfc/rfc6761 */
const LOCAL =
  /(^|\.)(localhost|local|internal|intranet|lan|home|corp|private|home\.arpa|localdomain|onion|test|invalid)\.?$/i;

function isLocalName(hostname: string): boolean {
  return LOCAL.test(hostname) || !hostname.replace(/\.$/, '').includes('.');
}
