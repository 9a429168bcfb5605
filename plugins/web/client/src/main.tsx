import './style.css';
import type { WebBlock, WebPageInfo, WebView } from '@cinnabar/sdk';
import { render } from 'preact';
import { useCallback, useEffect, useMemo, useRef, useState } from 'preact/hooks';
import {
  loadCard,
  loadPages,
  loadSession,
  loadView,
  type Names,
  type Place,
  Refusal,
  type Session,
  sendAct,
  watchPage,
} from './api.js';
import { Blocks, sentenceFor } from './blocks.js';
import { NO_NAMES, Page, type PageContext } from './context.js';
import { addressOf, type Route, SIGN_IN, useRoute } from './router.js';
import { FollowLink, Servers, Shell, SignIn } from './shell.js';
import { speak, t } from './texts.js';
import { Text } from './values.js';

const RETRY_MS = 3_000;
const SAID_MS = 8_000;

function App() {
  const route = useRoute();
  const [session, setSession] = useState<Session>();
  const [pages, setPages] = useState<readonly WebPageInfo[]>([]);
  const [problem, setProblem] = useState<string>();
  const { guildId } = route;

  useEffect(() => {
    let timer: ReturnType<typeof setTimeout> | undefined;
    const load = () => {
      loadSession().then(
        (loaded) => {
          speak(loaded.user === null ? navigator.language : loaded.language);
          setProblem(undefined);
          setSession(loaded);
        },
        (error: unknown) => {
          setProblem(sentenceFor(error));
          timer = setTimeout(load, RETRY_MS);
        },
      );
    };
    load();
    return () => clearTimeout(timer);
  }, []);
  const isSignedIn = session !== undefined && session.user !== null;
  useEffect(() => {
    setPages([]);
    if (guildId === undefined || !isSignedIn) return;
    loadPages(guildId).then(
      (loaded) => setPages(loaded.pages),
      () => setPages([]),
    );
  }, [guildId, isSignedIn]);

  if (session === undefined)
    return (
      <main class="alone" id="page">
        <p aria-live="polite">{problem ?? t('Loading …')}</p>
      </main>
    );
  if (location.pathname === SIGN_IN && location.hash !== '') return <FollowLink session={session} />;
  if (!isSignedIn) return <SignIn session={session} />;
  return (
    <Shell session={session} route={route} pages={pages}>
      {guildId === undefined ? (
        <Servers session={session} />
      ) : route.page === undefined ? (
        <Overview key={String(guildId)} guildId={guildId} session={session} pages={pages} />
      ) : (
        <PageView
          key={`${guildId} ${route.page}`}
          page={route.page}
          route={route}
          guildId={guildId}
          csrf={session.csrf ?? ''}
          pages={pages}
        />
      )}
    </Shell>
  );
}

function Overview({
  guildId,
  session,
  pages,
}: {
  readonly guildId: string | null;
  readonly session: Session;
  readonly pages: readonly WebPageInfo[];
}) {
  const name = guildId === null ? t('The bot') : (session.guilds.find(({ id }) => id === guildId)?.name ?? t('Server'));
  useTitle(name);
  return (
    <>
      <h1>{name}</h1>
      <div class="cards">
        {pages
          .filter(({ hasCard }) => hasCard)
          .map((page) => (
            <Card key={page.id} page={page} guildId={guildId} />
          ))}
      </div>
      <ul class="tiles">
        {pages
          .filter(({ group }) => group !== 'hidden')
          .map(({ id, title, description }) => (
            <li key={id}>
              <a href={addressOf({ guildId, page: id })}>
                <b>{title}</b>
                <small>{description}</small>
              </a>
            </li>
          ))}
      </ul>
    </>
  );
}

function Card({ page: { id, title }, guildId }: { readonly page: WebPageInfo; readonly guildId: string | null }) {
  const [shown, setShown] = useState<{ readonly blocks: readonly WebBlock[]; readonly names: Names }>();
  useEffect(() => {
    loadCard(id, guildId).then(setShown, () => undefined);
  }, [id, guildId]);
  if (shown === undefined || shown.blocks.length === 0) return null;
  const context: PageContext = {
    page: id,
    place: { guildId, query: {} },
    names: shown.names,
    act: () => Promise.reject(new Error('cards only show')),
    say: () => undefined,
    lookedAt: 0,
  };
  return (
    <section class="overview">
      <h2>
        <a href={addressOf({ guildId, page: id })}>{title}</a>
      </h2>
      <Page.Provider value={context}>
        <Blocks blocks={shown.blocks} />
      </Page.Provider>
    </section>
  );
}

interface PageParts {
  readonly page: string;
  readonly route: Route;
  readonly guildId: string | null;
  readonly csrf: string;
  readonly pages: readonly WebPageInfo[];
}

function PageView({ page, route, guildId, csrf, pages }: PageParts) {
  const query = JSON.stringify(route.query);
  const place: Place = useMemo(() => ({ guildId, query: route.query }), [guildId, query]);
  const [shown, setShown] = useState<{ readonly view: WebView; readonly names: Names }>();
  const [refused, setRefused] = useState<string>();
  const [isThere, setThere] = useState(true);
  const [said, say] = useSaid();
  const [known, setKnown] = useState<Names>(NO_NAMES);
  const lookedAt = useMemo(() => lookAt(`${guildId} ${page}`), [guildId, page]);
  const heading = useRef<HTMLHeadingElement>(null);
  const info = pages.find(({ id }) => id === page);
  const title = shown?.view.title ?? info?.title ?? '';
  useTitle(title);

  const load = useCallback(async () => {
    try {
      setShown(await loadView(page, place));
      setRefused(undefined);
      setThere(true);
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
      if (error.status === 0) setThere(false);
      else if (error.status === 401) location.assign('/');
      else setRefused(error.message);
    }
  }, [page, place]);
  useEffect(() => {
    void load();
    return watchPage(page, place, () => void load(), setThere);
  }, [load]);
  useEffect(() => {
    // A new page: the reader begins at its heading, and what was focused is gone.
    if (document.activeElement === document.body || document.activeElement?.closest('nav') !== null)
      heading.current?.focus();
  }, [shown === undefined, query]);

  const context: PageContext = {
    page,
    place,
    names: shown === undefined ? known : joined(shown.names, known),
    say,
    lookedAt,
    async act(name, input) {
      const result = await sendAct(page, name, input, place, csrf);
      if (result.names !== undefined) setKnown(joined(known, result.names));
      await load();
      return result;
    },
  };
  return (
    <Page.Provider value={context}>
      <h1 ref={heading} tabIndex={-1}>
        {title}
      </h1>
      {info?.description === undefined || shown?.view.title !== undefined ? null : (
        <p class="lead">{info.description}</p>
      )}
      {isThere ? null : (
        <p class="notice warning" role="status">
          {t('The bot cannot be reached. Trying again …')}
        </p>
      )}
      {refused === undefined ? null : (
        <p class="notice bad" role="alert">
          <Text text={refused} />
        </p>
      )}
      {shown === undefined ? (
        refused === undefined ? (
          <p class="empty">{t('Loading …')}</p>
        ) : null
      ) : (
        <Blocks blocks={shown.view.blocks} />
      )}
      <div class="said" role="status" aria-live="polite">
        {said === undefined ? null : (
          <p class={said.tone}>
            <Text text={said.sentence} />
          </p>
        )}
      </div>
    </Page.Provider>
  );
}

function joined(one: Names, other: Names): Names {
  return {
    users: { ...one.users, ...other.users },
    channels: { ...one.channels, ...other.channels },
    roles: { ...one.roles, ...other.roles },
  };
}

/** A sentence that is shown for a while. */
function useSaid() {
  const [said, setSaid] = useState<{ readonly sentence: string; readonly tone: 'good' | 'bad' }>();
  useEffect(() => {
    if (said === undefined) return undefined;
    const timer = setTimeout(() => setSaid(undefined), SAID_MS);
    return () => clearTimeout(timer);
  }, [said]);
  const say = useCallback((sentence: string, tone: 'good' | 'bad' = 'good') => setSaid({ sentence, tone }), []);
  return [said, say] as const;
}

/** When somebody last looked at a page in this browser; they look now. */
function lookAt(page: string): number {
  const key = `looked at ${page}`;
  const before = Number(localStorage.getItem(key) ?? 0);
  localStorage.setItem(key, String(Date.now()));
  return before;
}

function useTitle(title: string): void {
  useEffect(() => {
    document.title = title === '' ? 'Cinnabar' : `${title} · Cinnabar`;
  }, [title]);
}

const root = document.getElementById('app');
if (root !== null) render(<App />, root);
