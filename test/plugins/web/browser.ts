import type { TestHost } from '@cinnabar/core/testing';
import { WebServer } from '@cinnabar/sdk';

/** A response of the server. */
export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  /** Parsed JSON, or text. */
  readonly body: unknown;
}

/** A browser from the server's view: it keeps cookies, and sends the requests of the pages. */
export function openBrowser(host: TestHost) {
  const { url } = host.resolve(WebServer);
  if (url === undefined) throw new Error('the web server does not listen');
  let cookie = '';
  let csrf = '';
  const send = async (path: string, init: RequestInit = {}): Promise<Answer> => {
    const headers = { ...(cookie === '' ? {} : { cookie }), ...Object.fromEntries(new Headers(init.headers)) };
    const response = await fetch(new URL(path, url), { redirect: 'manual', ...init, headers });
    for (const line of response.headers.getSetCookie()) cookie = line.replace(/;.*$/s, '');
    const text = await response.text();
    const isJson = response.headers.get('content-type')?.startsWith('application/json') === true;
    // A response to HEAD has only headers.
    const body: unknown = isJson && init.method !== 'HEAD' ? JSON.parse(text) : text;
    return { status: response.status, headers: response.headers, body };
  };
  const follow = (link: string) =>
    send('/auth/link', {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ token: new URL(link).hash.slice(1) }),
    });
  return {
    url,
    send,
    get: (path: string) => send(path),
    get cookie() {
      return cookie;
    },
    /** Presses the button of a sign-in link. */
    follow,
    /** Signs in with a new link, and loads the first page. */
    async signIn(userId: string): Promise<Answer> {
      const answer = await follow(host.resolve(WebServer).signInLink(userId));
      const { body } = await send('/api/session');
      if (typeof body === 'object' && body !== null && 'csrf' in body) csrf = String(body.csrf);
      return answer;
    },
    act: (path: string, input: object, headers: Readonly<Record<string, string>> = {}) =>
      send(path, {
        method: 'POST',
        headers: { 'content-type': 'application/json', 'x-csrf-token': csrf, ...headers },
        body: JSON.stringify({ input }),
      }),
  };
}
