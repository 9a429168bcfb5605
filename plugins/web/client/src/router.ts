import type { WebLink } from '@cinnabar/sdk';
import { useLayoutEffect, useState } from 'preact/hooks';

/** The view of an address: the list of servers, the overview of a guild or the bot, or a page. */
export interface Route {
  /** `undefined` on the first page; `null`: the bot. */
  readonly guildId: string | null | undefined;
  /** `plugin/name`; `undefined`: the overview. */
  readonly page: string | undefined;
  readonly query: Readonly<Record<string, string>>;
}

/** The path of sign-in links. */
export const SIGN_IN = '/sign-in';

function routeOf({ pathname, search }: Location): Route {
  const query = Object.fromEntries(new URLSearchParams(search));
  const [, area, ...parts] = pathname.split('/');
  if (area === 'bot') return { guildId: null, page: pageOf(parts), query };
  if (area === 'g' && parts[0] !== undefined) return { guildId: parts[0], page: pageOf(parts.slice(1)), query };
  return { guildId: undefined, page: undefined, query };
}

const pageOf = ([plugin, name]: readonly string[]): string | undefined =>
  plugin === undefined || plugin === '' || name === undefined ? undefined : `${plugin}/${name}`;

export function addressOf({
  guildId,
  page,
  query = {},
}: {
  readonly guildId: string | null;
  readonly page?: string | undefined;
  readonly query?: Readonly<Record<string, string>> | undefined;
}): string {
  const base = guildId === null ? '/bot' : `/g/${guildId}`;
  const given = new URLSearchParams(query).toString();
  return `${base}${page === undefined ? '' : `/${page}`}${given === '' ? '' : `?${given}`}`;
}

/** The target of a link on a page. */
export function hrefOf(link: WebLink, guildId: string | null): string {
  if ('discord' in link) return link.discord;
  if ('overview' in link) return addressOf({ guildId: link.overview });
  if ('download' in link) {
    const given = new URLSearchParams(link.query).toString();
    return `/api/pages/${link.page}/files/${link.download}${given === '' ? '' : `?${given}`}`;
  }
  return addressOf({
    guildId: link.guildId === undefined ? guildId : link.guildId,
    page: link.page,
    query: link.query,
  });
}

const listeners = new Set<() => void>();
let moved = false;

/** Whether the person has come to this page from another one: then the focus moves to its title. */
export const hasMoved = (): boolean => moved;

export function navigate(href: string): void {
  const { pathname } = location;
  history.pushState(null, '', href);
  moved = true;
  if (location.pathname !== pathname) scrollTo(0, 0);
  for (const changed of listeners) changed();
}

export function useRoute(): Route {
  const [route, setRoute] = useState(() => routeOf(location));
  useLayoutEffect(() => {
    const changed = () => setRoute(routeOf(location));
    const wentBack = () => {
      moved = true;
      changed();
    };
    const follow = (event: MouseEvent) => {
      const link = event.target instanceof Element ? event.target.closest('a') : null;
      if (link === null || link.origin !== location.origin || link.target !== '' || link.hasAttribute('download'))
        return;
      if (event.defaultPrevented || event.button !== 0 || event.metaKey || event.ctrlKey || event.shiftKey) return;
      // Within the page, like the skip link: the browser moves the focus.
      if (link.hash !== '' && link.pathname === location.pathname && link.search === location.search) return;
      event.preventDefault();
      navigate(link.href);
    };
    listeners.add(changed);
    addEventListener('popstate', wentBack);
    document.addEventListener('click', follow);
    return () => {
      listeners.delete(changed);
      removeEventListener('popstate', wentBack);
      document.removeEventListener('click', follow);
    };
  }, []);
  return route;
}
