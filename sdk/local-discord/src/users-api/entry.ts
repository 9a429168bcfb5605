import { randomBytes } from 'node:crypto';
import type { ServerResponse } from 'node:http';
import type { Clock } from '../state/events.js';
import type { LocalUser } from '../state/users.js';

export const ENTRY = '/client/enter/';
const VALID_MS = 60_000;

export interface Entry {
  /** The path of an address that opens the member's page once. A new one invalidates the previous one. */
  pathFor(user: LocalUser): string;
  /** Redirects to the page, or responds that the address is no longer valid. */
  serve(response: ServerResponse, pathname: string): void;
}

/** Addresses without the key, for places where others could read it: every user of the machine can read the arguments of a process. */
export function createEntry(clock: Clock, pageOf: (user: LocalUser) => string): Entry {
  let open: { path: string; user: LocalUser; until: number } | undefined;
  return {
    pathFor(user) {
      open = { path: `${ENTRY}${randomBytes(18).toString('base64url')}`, user, until: clock.now() + VALID_MS };
      return open.path;
    },
    serve(response, pathname) {
      const headers = { 'cache-control': 'no-store', 'referrer-policy': 'no-referrer' };
      if (open === undefined || open.path !== pathname || clock.now() > open.until) {
        response.writeHead(410, { ...headers, 'content-type': 'text/plain' });
        response.end('This address has been used, or is too old. Ask for another one.');
        return;
      }
      response.writeHead(303, { ...headers, location: pageOf(open.user) }).end();
      open = undefined;
    },
  };
}
