import type { WebBlock, WebPageInfo, WebResult, WebView } from '@cinnabar/sdk';

/** What the ids in a view are called. */
export interface Names {
  readonly users: Readonly<Record<string, string>>;
  readonly channels: Readonly<Record<string, string>>;
  readonly roles: Readonly<Record<string, { readonly name: string; readonly color: string | null }>>;
}

export interface Account {
  readonly id: string;
  readonly name: string;
  readonly avatar: string;
}

export interface Guild {
  readonly id: string;
  readonly name: string;
  readonly icon: string | null;
}

export interface Session {
  readonly user: Account | null;
  readonly isOwner: boolean;
  readonly csrf: string | null;
  readonly signIn: { readonly discord: boolean };
  readonly bot: Account | null;
  readonly guilds: readonly Guild[];
  readonly language: string;
}

export interface Choice {
  readonly id: string;
  readonly name: string;
  readonly hint?: string;
}

export type Result = WebResult & { readonly names?: Names };

/** What the server refused, as a sentence; `status` 0 while it cannot be reached. */
export class Refusal extends Error {
  readonly status: number;
  constructor(status: number, sentence: string) {
    super(sentence);
    this.status = status;
  }
}

async function ask<T>(path: string, init?: RequestInit): Promise<T> {
  const response = await fetch(path, init).catch(() => undefined);
  if (response === undefined) throw new Refusal(0, '');
  const body = await response.json().catch(() => undefined);
  if (response.ok) return body;
  const sentence = typeof body?.error === 'string' ? body.error : response.statusText;
  throw new Refusal(response.status, sentence);
}

/** Where a page is: about which guild (`null`: the bot), and what its address says. */
export interface Place {
  readonly guildId: string | null;
  readonly query: Readonly<Record<string, string>>;
}

function parameters({ guildId, query }: Place): string {
  const given = new URLSearchParams({ ...query, ...(guildId === null ? {} : { guild: guildId }) }).toString();
  return given === '' ? '' : `?${given}`;
}

export const loadSession = (): Promise<Session> => ask('/api/session');

export const loadPages = (guildId: string | null): Promise<{ readonly pages: readonly WebPageInfo[] }> =>
  ask(`/api/pages${parameters({ guildId, query: {} })}`);

export const loadView = (page: string, place: Place): Promise<{ readonly view: WebView; readonly names: Names }> =>
  ask(`/api/pages/${page}${parameters(place)}`);

export const loadCard = (
  page: string,
  guildId: string | null,
): Promise<{ readonly blocks: readonly WebBlock[]; readonly names: Names }> =>
  ask(`/api/pages/${page}/card${parameters({ guildId, query: {} })}`);

export const loadChoices = (
  guildId: string,
  kind: string,
  search: string,
): Promise<{ readonly choices: readonly Choice[] }> =>
  ask(`/api/choices?${new URLSearchParams({ guild: guildId, kind, search })}`);

const post = <T>(path: string, csrf: string | undefined, body: unknown): Promise<T> =>
  ask(path, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...(csrf === undefined ? {} : { 'x-csrf-token': csrf }) },
    body: JSON.stringify(body),
  });

export const sendAct = (page: string, act: string, input: object, place: Place, csrf: string): Promise<Result> =>
  post(`/api/pages/${page}/acts/${act}${parameters(place)}`, csrf, { input });

/** With the token of a link. */
export const signIn = (token: string): Promise<unknown> => post('/auth/link', undefined, { token });

export const signOut = (csrf: string): Promise<unknown> => post('/auth/sign-out', csrf, {});

/** Calls back when the page may show something else, and when the connection is there or gone. @returns ends it */
export function watchPage(
  page: string,
  place: Place,
  onChange: () => void,
  onConnection: (isThere: boolean) => void,
): () => void {
  const given = new URLSearchParams({
    ...place.query,
    page,
    ...(place.guildId === null ? {} : { guild: place.guildId }),
  });
  const source = new EventSource(`/api/events?${given}`);
  let wasLost = false;
  source.addEventListener('open', () => {
    onConnection(true);
    // What changed meanwhile was not told.
    if (wasLost) onChange();
    wasLost = false;
  });
  source.addEventListener('changed', onChange);
  // Loading it again says why.
  source.addEventListener('gone', () => {
    source.close();
    onChange();
  });
  source.addEventListener('error', () => {
    wasLost = true;
    onConnection(false);
  });
  return () => source.close();
}
