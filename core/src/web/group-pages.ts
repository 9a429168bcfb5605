import {
  type Actor,
  type Clock,
  type Decision,
  sleep,
  type WebBlock,
  type WebChoice,
  type WebChoiceKind,
  type WebGuild,
  type WebNames,
  type WebPageInfo,
  type WebRequest,
  type WebResult,
  type WebView,
  z,
} from '@cinnabar/sdk';
import type { Assignment, RequestKind } from '../cluster/assignment.js';
import { createCarrier, objectWith } from '../cluster/channel.js';
import { denial } from '../commands/answers.js';
import { idsIn, type ShownIds } from './names.js';
import type { PageService } from './pages.js';

/** Deadline for showing a page. */
const SHOWN_MS = 15_000;
/** Deadline for a person's list: groups that are moving between processes are left out. */
const LISTED_MS = 4_000;
/** Deadline for actions, which may ask models and make many requests to Discord. */
const DONE_MS = 60_000;
/** How long one request watches a page for another process. */
const WATCHED_MS = 20_000;
const RETRY_MS = 5_000;

interface Asked {
  readonly page: string;
  readonly request: WebRequest;
}

const actor = objectWith<Actor>('userId');
const asked = z.object({ page: z.string(), request: objectWith<WebRequest>('actor') });

const LIST: RequestKind<Actor, readonly WebPageInfo[]> = {
  name: 'web.list',
  body: actor,
  answer: z.array(objectWith<WebPageInfo>('id')),
};
const GUILDS: RequestKind<{ readonly userId: string }, readonly WebGuild[]> = {
  name: 'web.guilds',
  body: z.object({ userId: z.string() }),
  answer: z.array(z.object({ id: z.string(), name: z.string(), icon: z.string().nullable() })),
};
const NAMES: RequestKind<{ readonly ids: ShownIds; readonly actor: Actor }, WebNames> = {
  name: 'web.names',
  body: z.object({
    ids: z.object({ users: z.array(z.string()), channels: z.array(z.string()), roles: z.array(z.string()) }),
    actor,
  }),
  answer: objectWith<WebNames>('users'),
};
interface Wanted {
  readonly kind: WebChoiceKind;
  readonly search: string;
  readonly actor: Actor;
}
const CHOICES: RequestKind<Wanted, readonly WebChoice[]> = {
  name: 'web.choices',
  body: z.object({ kind: z.enum(['channel', 'role', 'user']), search: z.string(), actor }),
  answer: z.array(objectWith<WebChoice>('id')),
};
const VIEW: RequestKind<Asked, WebView> = { name: 'web.view', body: asked, answer: objectWith<WebView>('blocks') };
const CARD: RequestKind<Asked, readonly WebBlock[]> = {
  name: 'web.card',
  body: asked,
  answer: z.array(objectWith<WebBlock>('kind')),
};
const ACT: RequestKind<Asked & { readonly act: string; readonly input: unknown }, WebResult> = {
  name: 'web.act',
  body: asked.extend({ act: z.string(), input: z.unknown() }),
  answer: objectWith<WebResult>('said'),
};
const EXPLAIN: RequestKind<{ readonly page: string; readonly actor: Actor }, Decision> = {
  name: 'web.explain',
  body: z.object({ page: z.string(), actor }),
  answer: objectWith<Decision>('allowed'),
};
/** Whether a page changed during the request. */
const WATCH: RequestKind<Asked, boolean> = { name: 'web.watch', body: asked, answer: z.boolean() };

/**
 * Pages of all servers of the bot: a request about a server of another group is sent to that group's host, which authorizes, executes and records it once.
 */
export function sharePages(own: PageService, { channel, partition }: Assignment, clock: Clock): PageService {
  const carried = createCarrier({ channel, partition }, SHOWN_MS);
  const list = carried(LIST, own.list);
  const names = carried(NAMES, ({ ids, actor: by }) => own.namesOf(ids, by));
  const choices = carried(CHOICES, ({ kind, search, actor: by }) => own.choices(kind, search, by));
  const view = carried(VIEW, ({ page, request }) => own.view(page, request));
  const card = carried(CARD, ({ page, request }) => own.card(page, request));
  const act = carried(ACT, ({ page, act: name, input, request }) => own.act(page, name, input, request));
  const explain = carried(EXPLAIN, ({ page, actor: by }) => own.explain(page, by));
  const watch = carried(WATCH, async ({ page, request }, signal) => {
    const over = new AbortController();
    const end = () => over.abort();
    signal?.addEventListener('abort', end, { once: true });
    let hasChanged = false;
    const stop = await own.watch(page, request, () => {
      hasChanged = true;
      end();
    });
    try {
      await sleep(clock, WATCHED_MS, over.signal);
      return hasChanged;
    } finally {
      stop();
      signal?.removeEventListener('abort', end);
    }
  });
  channel.answer(GUILDS, ({ userId }) => own.guilds(userId));

  /** Watches a page until `over`. Calls `changed` also after an error, since the page may be different on another host. */
  const follow = async (page: string, request: WebRequest, changed: () => void, over: AbortSignal) => {
    while (!over.aborted) {
      try {
        if (await watch(request.actor, { page, request }, WATCHED_MS + SHOWN_MS, over)) changed();
      } catch {
        await sleep(clock, RETRY_MS, over);
        if (!over.aborted) changed();
      }
    }
  };

  return {
    page: own.page,
    addRoute: own.addRoute,
    namesOf: (ids, by) => names(by, { ids, actor: by }),
    get url() {
      return own.url;
    },
    serveAt: own.serveAt,
    route: own.route,
    list: (by) => list(by, by),
    async guilds(userId) {
      const answers = await channel.askAll(GUILDS, { userId }, { deadlineMs: LISTED_MS });
      return answers
        .flatMap((one) => (one.ok ? one.answer : []))
        .toSorted((one, other) => one.name.localeCompare(other.name));
    },
    names: (blocks, by) => names(by, { ids: idsIn(blocks), actor: by }),
    choices: (kind, search, by) => choices(by, { kind, search, actor: by }),
    view: (page, request) => view(request.actor, { page, request }),
    card: (page, request) => card(request.actor, { page, request }),
    act: (page, name, input, request) => act(request.actor, { page, act: name, input, request }, DONE_MS),
    // Only pages about the bot have files, and those belong to the process that serves the dashboard.
    file: own.file,
    explain: (page, by) => explain(by, { page, actor: by }),
    async watch(page, request, changed) {
      const { actor: by } = request;
      if (partition.owns(by.guildId)) return own.watch(page, request, changed);
      const decision = await explain(by, { page, actor: by });
      if (!decision.allowed) throw denial(decision);
      const over = new AbortController();
      void follow(page, request, changed, over.signal);
      return () => over.abort();
    },
  };
}
