import type { WebBlock, WebPageInfo, WebResult, WebView } from '@cinnabar/sdk';

/** The display names of the ids in a view. */
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

/** A refusal of the server, as a sentence; `status` is 0 while it cannot be reached. */
export class Refusal extends Error {
  readonly status: number;
  /** The invalid parts of the input, if the server names them. */
  readonly field: string | undefined;
  constructor(status: number, sentence: string, field?: string) {
    super(sentence);
    this.status = status;
    this.field = field;
  }
}

async function ask<T>(path: string, init?: RequestInit): Promise<T> {
  const response = await fetch(path, init).catch(() => undefined);
  if (response === undefined) throw new Refusal(0, '');
  const body = await response.json().catch(() => undefined);
  if (response.ok) return body;
  const sentence = typeof body?.error === 'string' ? body.error : undefined;
  // A proxy reports that the server behind it is down.
  if (sentence === undefined && response.status >= 500) throw new Refusal(0, '');
  throw new Refusal(
    response.status,
    sentence ?? response.statusText,
    typeof body?.field === 'string' ? body.field : undefined,
  );
}

/** Which guild a page is about (`null`: the bot), and the parameters in its address. */
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

/** @param token of a sign-in link */
export const signIn = (token: string): Promise<unknown> => post('/auth/link', undefined, { token });

export const signOut = (csrf: string): Promise<unknown> => post('/auth/sign-out', csrf, {});

const FIRST_RETRY_MS = 2_000;
const MOST_RETRY_MS = 60_000;

/** Calls back when the page's content may have changed, and when the connection opens or closes. @returns a function that stops it */
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
  let timer: ReturnType<typeof setTimeout> | undefined;
  let source: EventSource | undefined;
  let retryMs = FIRST_RETRY_MS;
  let wasLost = false;
  const connect = () => {
    const opened = new EventSource(`/api/events?${given}`);
    source = opened;
    opened.addEventListener('open', () => {
      retryMs = FIRST_RETRY_MS;
      onConnection(true);
      // Changes during the interruption were not reported.
      if (wasLost) onChange();
      wasLost = false;
    });
    opened.addEventListener('changed', onChange);
    // The reload shows the reason.
    opened.addEventListener('gone', () => {
      opened.close();
      onChange();
    });
    opened.addEventListener('error', () => {
      wasLost = true;
      onConnection(false);
      if (opened.readyState !== EventSource.CLOSED) return;
      // After a response that is not a stream (a proxy's error page while the bot is down), the browser does not retry. Loading the page shows whether this
      // person can still see it.
      onChange();
      timer = setTimeout(connect, retryMs);
      retryMs = Math.min(retryMs * 2, MOST_RETRY_MS);
    });
  };
  connect();
  return () => {
    clearTimeout(timer);
    source?.close();
  };
}
