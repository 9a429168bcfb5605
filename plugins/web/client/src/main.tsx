import './style.css';
import type { WebBlock, WebPageInfo, WebView } from '@cinnabar/sdk';
import { render } from 'preact';
import { useCallback, useEffect, useLayoutEffect, useMemo, useRef, useState } from 'preact/hooks';
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
import { NO_NAMES, NO_PAGE, Page, type PageContext } from './context.js';
import { addressOf, type Route, SIGN_IN, useRoute } from './router.js';
import { FollowLink, Heading, type Said, Servers, Shell, SignIn } from './shell.js';
import { speak, t } from './texts.js';
import { Text } from './values.js';

const RETRY_MS = 3_000;
const SAID_MS = 8_000;
/** How long an act can be undone. */
const UNDO_MS = 30_000;

function App() {
  const route = useRoute();
  const [session, setSession] = useState<Session>();
  const [problem, setProblem] = useState<string>();
  const [said, say] = useSaid();
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
  const { pages, refused, reload } = usePages(isSignedIn ? guildId : undefined);

  if (session === undefined)
    return (
      <main class="alone" id="page">
        <p aria-live="polite">{problem ?? t('Loading …')}</p>
      </main>
    );
  if (location.pathname === SIGN_IN && location.hash !== '') return <FollowLink session={session} />;
  if (!isSignedIn) return <SignIn session={session} />;
  return (
    <Shell
      session={session}
      route={route}
      pages={refused === undefined ? pages : (pages ?? [])}
      said={said}
      onRead={() => say(undefined)}
    >
      {guildId === undefined ? (
        <Servers session={session} />
      ) : route.page === undefined ? (
        <Overview key={String(guildId)} guildId={guildId} session={session} pages={pages} refused={refused} />
      ) : (
        <PageView
          key={`${guildId} ${route.page}`}
          page={route.page}
          route={route}
          guildId={guildId}
          session={session}
          pages={pages ?? []}
          say={say}
          onActed={reload}
        />
      )}
    </Shell>
  );
}

/** The pages of a guild or of the bot; `undefined` until they are loaded. */
function usePages(guildId: string | null | undefined) {
  const [pages, setPages] = useState<readonly WebPageInfo[]>();
  const [refused, setRefused] = useState<string>();
  const [turn, setTurn] = useState(0);
  const reload = useCallback(() => setTurn((before) => before + 1), []);
  // Before anything of the other guild is drawn.
  useLayoutEffect(() => {
    setPages(undefined);
    setRefused(undefined);
  }, [guildId]);
  useEffect(() => {
    if (guildId === undefined) return undefined;
    let isOver = false;
    let timer: ReturnType<typeof setTimeout> | undefined;
    loadPages(guildId).then(
      (loaded) => {
        if (isOver) return;
        setPages(loaded.pages);
        setRefused(undefined);
      },
      (error: unknown) => {
        if (isOver) return;
        if (error instanceof Refusal && error.status === 401) location.assign('/');
        setRefused(sentenceFor(error));
        if (!(error instanceof Refusal) || error.status === 0) timer = setTimeout(reload, RETRY_MS);
      },
    );
    return () => {
      isOver = true;
      clearTimeout(timer);
    };
  }, [guildId, turn]);
  return { pages, refused, reload };
}

const nameOf = (guildId: string | null, session: Session): string =>
  guildId === null ? t('The bot') : (session.guilds.find(({ id }) => id === guildId)?.name ?? t('Server'));

interface OverviewParts {
  readonly guildId: string | null;
  readonly session: Session;
  readonly pages: readonly WebPageInfo[] | undefined;
  readonly refused: string | undefined;
}

function Overview({ guildId, session, pages, refused }: OverviewParts) {
  return (
    <>
      <Heading text={nameOf(guildId, session)} />
      {refused === undefined ? null : (
        <p class="notice warning" role="status">
          <Text text={refused} />
        </p>
      )}
      {pages === undefined ? (
        refused === undefined ? (
          <p class="empty">{t('Loading …')}</p>
        ) : null
      ) : (
        <Tiles guildId={guildId} pages={pages} />
      )}
    </>
  );
}

function Tiles({ guildId, pages }: { readonly guildId: string | null; readonly pages: readonly WebPageInfo[] }) {
  if (pages.length === 0)
    return (
      <p class="empty">
        {t('Nothing here is yours to see. In a server where the bot is, its admins decide what you may do.')}{' '}
        <a href="/">{t('Choose a server')}</a>
      </p>
    );
  return (
    <>
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
  const context: PageContext = { ...NO_PAGE, page: id, place: { guildId, query: {} }, names: shown.names };
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
  readonly session: Session;
  readonly pages: readonly WebPageInfo[];
  say(said: Said | undefined): void;
  onActed(): void;
}

function PageView({ page, route, guildId, session, pages, say, onActed }: PageParts) {
  const query = JSON.stringify(route.query);
  const place: Place = useMemo(() => ({ guildId, query: route.query }), [guildId, query]);
  const [shown, setShown] = useState<{ readonly view: WebView; readonly names: Names }>();
  const [refused, setRefused] = useState<string>();
  const [isThere, setThere] = useState(true);
  const [known, setKnown] = useState<Names>(NO_NAMES);
  const lookedAt = useMemo(() => lookAt(`${guildId} ${page}`), [guildId, page]);
  const info = pages.find(({ id }) => id === page);
  const ownTitle = shown?.view.title;
  const title = ownTitle ?? info?.title ?? '';

  const latest = useRef(0);
  const load = useCallback(async () => {
    const number = ++latest.current;
    try {
      const loaded = await loadView(page, place);
      // Answers may arrive in another order than the requests.
      if (number !== latest.current) return;
      setShown(loaded);
      setRefused(undefined);
      setThere(true);
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
      if (number !== latest.current) return;
      if (error.status === 0) setThere(false);
      else if (error.status === 401) location.assign('/');
      else setRefused(error.message);
    }
  }, [page, place]);
  useEffect(() => {
    void load();
    return watchPage(page, place, () => void load(), setThere);
  }, [load]);
  const names = shown === undefined ? known : joined(shown.names, known);
  /** For sentences about an act that came after this rendering. */
  const latestNames = useRef(names);
  latestNames.current = names;
  const context: PageContext = {
    page,
    place,
    names,
    say: (sentence, tone = 'good', undo) =>
      say(sentence === undefined ? undefined : { sentence, tone, undo, names: latestNames.current }),
    lookedAt,
    async act(name, input) {
      const result = await sendAct(page, name, input, place, session.csrf ?? '');
      const { names: named = NO_NAMES } = result;
      setKnown((before) => joined(before, named));
      await load();
      // It may have added or removed a page.
      onActed();
      return result;
    },
  };
  return (
    <Page.Provider value={context}>
      <Trail guildId={guildId} session={session} info={ownTitle === undefined ? undefined : info} />
      <Heading text={title} />
      {info?.description === undefined || ownTitle !== undefined ? null : <p class="lead">{info.description}</p>}
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
    </Page.Provider>
  );
}

/** The levels above the page: the server, and for a page about one item the page that lists them. */
function Trail({
  guildId,
  session,
  info,
}: {
  readonly guildId: string | null;
  readonly session: Session;
  readonly info: WebPageInfo | undefined;
}) {
  return (
    <nav class="trail" aria-label={t('Where this page is')}>
      <ol>
        <li>
          <a href={addressOf({ guildId })}>{nameOf(guildId, session)}</a>
        </li>
        {info === undefined || info.group === 'hidden' ? null : (
          <li>
            <a href={addressOf({ guildId, page: info.id })}>{info.title}</a>
          </li>
        )}
      </ol>
    </nav>
  );
}

function joined(one: Names, other: Names): Names {
  return {
    users: { ...one.users, ...other.users },
    channels: { ...one.channels, ...other.channels },
    roles: { ...one.roles, ...other.roles },
  };
}

/** A sentence that is shown for a while, on every page that is opened meanwhile. */
function useSaid() {
  const [said, setSaid] = useState<Said>();
  useEffect(() => {
    if (said === undefined) return undefined;
    const timer = setTimeout(() => setSaid(undefined), said.undo === undefined ? SAID_MS : UNDO_MS);
    return () => clearTimeout(timer);
  }, [said]);
  return [said, setSaid] as const;
}

/** When this browser last showed the page; records the current visit. */
function lookAt(page: string): number {
  const key = `looked at ${page}`;
  const before = Number(localStorage.getItem(key) ?? 0);
  localStorage.setItem(key, String(Date.now()));
  return before;
}

const root = document.getElementById('app');
if (root !== null) render(<App />, root);
