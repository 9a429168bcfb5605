import type { WebPageInfo } from '@cinnabar/sdk';
import type { ComponentChildren } from 'preact';
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';
import { type Names, type Session, signIn, signOut } from './api.js';
import { sentenceFor } from './blocks.js';
import { NO_PAGE, Page } from './context.js';
import { addressOf, hasMoved, navigate, type Route } from './router.js';
import { useSelection } from './selection.js';
import { t } from './texts.js';
import { Text } from './values.js';

const groups = () =>
  [
    ['server', t('Server')],
    ['agents', t('Agents')],
    ['operation', t('Operation')],
  ] as const;

interface ShellParts {
  readonly session: Session;
  readonly route: Route;
  /** `undefined` until they are loaded. */
  readonly pages: readonly WebPageInfo[] | undefined;
  readonly said: Said | undefined;
  /** Called when the sentence has been read. */
  onRead(): void;
  readonly children: ComponentChildren;
}

export interface Said {
  readonly sentence: string;
  readonly tone: 'good' | 'bad';
  /** Undoes the reported act. */
  readonly undo: (() => void) | undefined;
  readonly names: Names;
}

/** The title of a page. It takes the focus when the focused element is gone or outside of the page. */
export function Heading({ text }: { readonly text: string }) {
  const heading = useRef<HTMLHeadingElement>(null);
  useEffect(() => {
    document.title = text === '' ? 'Cinnabar' : `${text} · Cinnabar`;
    const isElsewhere = document.activeElement?.closest('main, dialog[open], select') == null;
    if (hasMoved() && isElsewhere && text !== '') heading.current?.focus({ preventScroll: true });
  }, [text]);
  return (
    <h1 ref={heading} tabIndex={-1}>
      {text}
    </h1>
  );
}

/** The frame of every page: the servers, the pages of the chosen one, and the signed-in user. */
export function Shell({ session, route, pages, said, onRead, children }: ShellParts) {
  const [isOpen, setOpen] = useState(false);
  const menu = useRef<HTMLButtonElement>(null);
  useLayoutEffect(() => setOpen(false), [route]);
  useLayoutEffect(() => {
    if (!isOpen) return undefined;
    const close = ({ key }: KeyboardEvent) => {
      if (key !== 'Escape') return;
      setOpen(false);
      menu.current?.focus();
    };
    addEventListener('keydown', close);
    return () => removeEventListener('keydown', close);
  }, [isOpen]);
  const hasPages = route.guildId !== undefined;
  return (
    <div class={hasPages ? 'shell' : 'shell wide'}>
      <a class="skip" href="#page">
        {t('Skip to the page')}
      </a>
      <header>
        {hasPages ? (
          <button
            ref={menu}
            type="button"
            class="menu"
            aria-expanded={isOpen}
            aria-controls="navigation"
            onClick={() => setOpen(!isOpen)}
          >
            {t('Menu')}
          </button>
        ) : null}
        <a class="brand" href="/">
          {session.bot?.name ?? 'Cinnabar'}
        </a>
        <Switcher session={session} route={route} />
        <span class="spring" />
        <Palette session={session} route={route} pages={pages} />
        <Theme />
        <details class="account">
          <summary>
            <Picture src={session.user?.avatar} name={session.user?.name ?? ''} size={24} />
            <span>{session.user?.name}</span>
          </summary>
          <div>
            <a href="/docs/" target="_blank" rel="noopener">
              {t('Help')}
            </a>
            <button
              type="button"
              onClick={async () => {
                await signOut(session.csrf ?? '');
                location.assign('/');
              }}
            >
              {t('Sign out')}
            </button>
          </div>
        </details>
      </header>
      {route.guildId === undefined ? null : (
        <nav id="navigation" class={isOpen ? 'open' : ''} aria-label={t('Pages')}>
          <Navigation route={route} guildId={route.guildId} pages={pages ?? []} />
        </nav>
      )}
      <main id="page" tabIndex={-1}>
        {children}
      </main>
      <div class="said" role="status" aria-live="polite">
        {said === undefined ? null : (
          <div class={said.tone}>
            <p>
              <Page.Provider value={{ ...NO_PAGE, names: said.names }}>
                <Text text={said.sentence} />
              </Page.Provider>
            </p>
            {said.undo === undefined ? null : (
              <button
                type="button"
                onClick={() => {
                  onRead();
                  said.undo?.();
                }}
              >
                {t('Undo')}
              </button>
            )}
            <button type="button" aria-label={t('Close')} onClick={onRead}>
              ×
            </button>
          </div>
        )}
      </div>
    </div>
  );
}

function Navigation({
  route,
  guildId,
  pages,
}: {
  readonly route: Route;
  readonly guildId: string | null;
  readonly pages: readonly WebPageInfo[];
}) {
  const item = (href: string, title: string, isCurrent: boolean) => (
    <li key={href}>
      <a href={href} aria-current={isCurrent ? 'page' : undefined}>
        {title}
      </a>
    </li>
  );
  return (
    <>
      <ul>{item(addressOf({ guildId }), t('Overview'), route.page === undefined)}</ul>
      {groups().map(([group, name]) => {
        const own = pages.filter((page) => page.group === group);
        if (own.length === 0) return null;
        return (
          <section key={group}>
            <h2>{name}</h2>
            <ul>
              {own.map((page) => item(addressOf({ guildId, page: page.id }), page.title, route.page === page.id))}
            </ul>
          </section>
        );
      })}
    </>
  );
}

/** Goes to the same page of another server. */
function Switcher({ session, route }: { readonly session: Session; readonly route: Route }) {
  if (route.guildId === undefined) return null;
  const value = route.guildId ?? 'bot';
  return (
    <select
      aria-label={t('Servers')}
      value={value}
      onChange={({ currentTarget }) =>
        navigate(addressOf({ guildId: currentTarget.value === 'bot' ? null : currentTarget.value }))
      }
    >
      {session.guilds.map(({ id, name }) => (
        <option key={id} value={id}>
          {name}
        </option>
      ))}
      {session.isOwner ? <option value="bot">{t('The bot')}</option> : null}
    </select>
  );
}

const THEME = 'theme';

function Theme() {
  const [theme, setTheme] = useState(() => localStorage.getItem(THEME) ?? '');
  useEffect(() => {
    document.documentElement.dataset.theme = theme;
    localStorage.setItem(THEME, theme);
  }, [theme]);
  const isDark = theme === 'dark' || (theme === '' && matchMedia('(prefers-color-scheme: dark)').matches);
  return (
    <button
      type="button"
      class="theme"
      aria-label={t('Light or dark')}
      title={t('Light or dark')}
      onClick={() => setTheme(isDark ? 'light' : 'dark')}
    >
      {isDark ? '☀' : '☾'}
    </button>
  );
}

const MOST_FOUND = 12;

/** Finds pages and servers by name, with Ctrl+K. */
function Palette({
  session,
  route,
  pages,
}: {
  readonly session: Session;
  readonly route: Route;
  readonly pages: readonly WebPageInfo[] | undefined;
}) {
  const dialog = useRef<HTMLDialogElement>(null);
  const [search, setSearch] = useState('');
  useLayoutEffect(() => {
    const open = (event: KeyboardEvent) => {
      if (event.key !== 'k' || !(event.ctrlKey || event.metaKey)) return;
      event.preventDefault();
      dialog.current?.showModal();
    };
    addEventListener('keydown', open);
    return () => removeEventListener('keydown', open);
  }, []);
  const { guildId } = route;
  const isComplete = guildId === undefined || pages !== undefined;
  const targets = [
    ...(guildId === undefined || pages === undefined
      ? []
      : pages
          .filter(({ group }) => group !== 'hidden')
          .map(({ id, title }) => ({ text: title, kind: t('Page'), href: addressOf({ guildId, page: id }) }))),
    ...session.guilds.map(({ id, name }) => ({ text: name, kind: t('Server'), href: addressOf({ guildId: id }) })),
    ...(session.isOwner ? [{ text: t('The bot'), kind: '', href: addressOf({ guildId: null }) }] : []),
  ];
  const found = targets.filter(({ text }) => text.toLowerCase().includes(search.toLowerCase())).slice(0, MOST_FOUND);
  const go = (href: string) => {
    dialog.current?.close();
    navigate(href);
  };
  const selection = useSelection(found, isComplete, ({ href }) => go(href));
  const { at } = selection;
  const forget = () => {
    setSearch('');
    selection.select(0);
    selection.cancel();
  };
  return (
    <>
      <button type="button" class="palette" onClick={() => dialog.current?.showModal()}>
        {t('Go to …')} <kbd>{t('Ctrl K')}</kbd>
      </button>
      <dialog ref={dialog} class="palette" aria-label={t('Go to …')} onClose={forget}>
        <form
          onSubmit={(event) => {
            event.preventDefault();
            selection.enter();
          }}
        >
          <input
            type="text"
            role="combobox"
            autocomplete="off"
            aria-label={t('Go to …')}
            aria-expanded={true}
            aria-controls="palette"
            aria-activedescendant={found.length === 0 ? undefined : `palette-${at}`}
            placeholder={t('Go to …')}
            value={search}
            onInput={({ currentTarget }) => {
              setSearch(currentTarget.value);
              selection.select(0);
              selection.cancel();
            }}
            onKeyDown={selection.onArrow}
          />
        </form>
        <div id="palette" class="choices" role="listbox" tabIndex={-1} aria-label={t('Go to …')}>
          {found.map(({ text, kind, href }, index) => (
            <div
              key={href}
              id={`palette-${index}`}
              role="option"
              tabIndex={-1}
              aria-selected={index === at}
              onClick={() => go(href)}
              onKeyDown={({ key }) => (key === 'Enter' ? go(href) : undefined)}
            >
              {text} <small>{kind}</small>
            </div>
          ))}
        </div>
        <p class="empty" role="status">
          {isComplete ? (found.length === 0 ? t('Nothing found') : '') : t('Loading …')}
        </p>
        <button type="button" onClick={() => dialog.current?.close()}>
          {t('Close')}
        </button>
      </dialog>
    </>
  );
}

export function SignIn({ session }: { readonly session: Session }) {
  return (
    <main class="alone" id="page">
      <h1>{session.bot?.name ?? 'Cinnabar'}</h1>
      {session.signIn.discord ? (
        <p>
          <a class="button primary" href="/auth/discord" target="_self">
            {t('Sign in with Discord')}
          </a>
        </p>
      ) : null}
      <p>
        <Text
          text={
            session.signIn.discord
              ? t('Or by a link: the owner of the bot gets one with the command `!web link`.')
              : t('You need a link to sign in. The owner of the bot gets one with the command `!web link`.')
          }
        />
      </p>
    </main>
  );
}

/** The page of a sign-in link: it waits for a click, since programs that preview links would use it up. */
export function FollowLink({ session }: { readonly session: Session }) {
  const [problem, setProblem] = useState<string>();
  const [isBusy, setBusy] = useState(false);
  const follow = async () => {
    setBusy(true);
    try {
      await signIn(location.hash.slice(1));
      location.replace('/');
    } catch (error) {
      setProblem(sentenceFor(error));
      setBusy(false);
    }
  };
  return (
    <main class="alone" id="page">
      <h1>{session.bot?.name ?? 'Cinnabar'}</h1>
      <p>
        <button type="button" class="primary" disabled={isBusy} onClick={() => void follow()}>
          {t('Sign in')}
        </button>
      </p>
      <p role="status">{problem === undefined ? null : <Text text={problem} />}</p>
    </main>
  );
}

export function Servers({ session }: { readonly session: Session }) {
  return (
    <>
      <Heading text={t('Choose a server')} />
      {session.guilds.length === 0 && !session.isOwner ? (
        <p class="empty">
          {t('Nothing here is yours to see. In a server where the bot is, its admins decide what you may do.')}
        </p>
      ) : null}
      <ul class="servers">
        {session.guilds.map((guild) => (
          <li key={guild.id}>
            <a href={addressOf({ guildId: guild.id })}>
              <Picture src={guild.icon} name={guild.name} size={40} />
              <span>{guild.name}</span>
            </a>
          </li>
        ))}
        {session.isOwner ? (
          <li>
            <a href={addressOf({ guildId: null })}>
              <Picture src={session.bot?.avatar} name={session.bot?.name ?? ''} size={40} />
              <span>{t('The bot')}</span>
            </a>
          </li>
        ) : null}
      </ul>
    </>
  );
}

/** An avatar or icon; the initials if there is none, or it cannot be loaded. */
function Picture({
  src,
  name,
  size,
}: {
  readonly src: string | null | undefined;
  readonly name: string;
  readonly size: 24 | 40;
}) {
  const [isGone, setGone] = useState(false);
  if (src != null && !isGone) return <img src={src} alt="" width={size} height={size} onError={() => setGone(true)} />;
  const initials = name
    .split(/\s+/)
    .map((word) => word[0] ?? '')
    .slice(0, 2)
    .join('');
  return (
    <span class={`initials of-${size}`} aria-hidden="true">
      {initials}
    </span>
  );
}
