import {
  type Access,
  type AccessRequest,
  type Actor,
  type AuditLog,
  CinnabarError,
  type Clock,
  type Decision,
  type Disposer,
  issueLanguage,
  NO_CHANNEL,
  plainIssue,
  type Random,
  sentenceOf,
  t,
  translated,
  UserError,
  type WebAccess,
  type WebAct,
  type WebBlock,
  type WebButton,
  type WebFile,
  type WebNames,
  type WebPage,
  type WebPageInfo,
  type WebPages,
  type WebRequest,
  type WebResult,
  type WebRoute,
} from '@cinnabar/sdk';
import type { Client, Guild } from 'discord.js';
import { LRUCache } from 'lru-cache';
import PQueue from 'p-queue';
import { denial, explain, isReadByOperator } from '../commands/answers.js';
import { outcomeOf } from '../commands/execute.js';
import type { AccessService, Boundary, CommandService, EnabledIn, Owner } from '../contracts.js';
import type { LanguageService } from '../languages/languages.js';
import { choicesFor, idsIn, namesOf, type ShownIds } from './names.js';

interface PageServices {
  readonly access: AccessService;
  readonly audit: Pick<AuditLog, 'record'>;
  readonly boundary: Boundary;
  readonly client: Client;
  readonly clock: Clock;
  readonly commands: Pick<CommandService, 'explain'>;
  readonly enabledIn: EnabledIn;
  readonly languages: Pick<LanguageService, 'serve'>;
  readonly random: Random;
}

/** The registry of pages and routes, and the interface through which the web server uses them. */
export interface PageService extends WebPages {
  page(owner: Owner, definition: WebPage): Disposer;
  addRoute(owner: Owner, definition: WebRoute): Disposer;
  namesOf(ids: ShownIds, actor: Actor): Promise<WebNames>;
}

interface Registered {
  readonly owner: Owner;
  readonly page: WebPage;
}

const NAME = /^[a-z][a-z0-9-]{0,31}$/;
const PATH = /^(?:\/[\w.-]+)*$/;
/** First path segments of the web server itself: a plugin with this id would never be reached. */
const RESERVED_PATHS = [
  'api',
  'assets',
  'auth',
  'bot',
  'client',
  'docs',
  'g',
  'healthz',
  'metrics',
  'readyz',
  'sign-in',
];

/**
 * Builds the registry of pages. Every call is authorized again: a browser gets nothing that the member could not read in Discord, and can do nothing that the
 * member could not do there.
 */
export function createPages(services: PageServices): PageService {
  const { access, audit, boundary, client, clock, commands, enabledIn, languages, random } = services;
  const guildsOf = createMemberships(client, clock);
  const pages = new Map<string, Registered>();
  const routes = new Map<string, WebRoute['handle']>();
  let served: { readonly url: string } | undefined;

  const isAbout = ({ page }: Registered, { guildId }: Actor) => (page.about === 'guild') === (guildId !== null);

  const decide = async (
    { owner }: Registered,
    wanted: WebAccess,
    name: string,
    actor: Actor,
    by: Access['decide'] = access.decide,
  ): Promise<Decision> => {
    if (!('command' in wanted)) return by(actor, requestFor(owner, wanted, name));
    const [command] = await commands.explain(actor, wanted.command, by);
    return (
      command?.decision ?? {
        allowed: false,
        reasons: [{ rule: 'command', allowed: false, text: t('the command `{command}` is not there', wanted) }],
      }
    );
  };
  /** The decision about a page. @throws CINNABAR_PAGE_UNKNOWN where the plugin is disabled: checked last, after the decision has loaded the guild's state */
  const decideAboutPage = async (entry: Registered, actor: Actor): Promise<Decision> => {
    if (!isAbout(entry, actor)) throw new CinnabarError('CINNABAR_PAGE_UNKNOWN');
    const decision = await decide(entry, entry.page.access, entry.page.name, actor);
    if (decision.allowed && !enabledIn(actor.guildId, entry.owner.plugin))
      throw new CinnabarError('CINNABAR_PAGE_UNKNOWN');
    return decision;
  };

  const enter = async (id: string, actor: Actor): Promise<Registered> => {
    const entry = pages.get(id);
    if (entry === undefined) throw new CinnabarError('CINNABAR_PAGE_UNKNOWN');
    const decision = await decideAboutPage(entry, actor);
    if (!decision.allowed) throw denial(decision);
    entry.owner.entrusted?.give(actor);
    return entry;
  };

  /** Runs a task for a page in the person's language, inside the plugin's error boundary. An error becomes a sentence with a reference to the log. */
  const serve = async <T>(id: string, actor: Actor, task: (entry: Registered) => Promise<T>): Promise<T> =>
    languages.serve({ guildId: actor.guildId, userId: actor.userId }, undefined, async () => {
      const entry = await enter(id, actor);
      const { owner } = entry;
      try {
        return await boundary.track(owner, () => task(entry));
      } catch (error) {
        const forOperator = await isReadByOperator(access, actor, undefined);
        const { sentence, failure } = explain(
          { what: `page ${id}`, actor, error, log: owner.log, forOperator },
          random,
        );
        if (failure === undefined && error instanceof CinnabarError && sentenceOf(error) === sentence) throw error;
        if (failure !== undefined) owner.log.error(failure.message, { error: failure });
        throw new UserError(sentence);
      }
    });

  /** Records the action and its outcome in the audit log. */
  const audited = async <T>(
    recorded: { readonly actor: Actor; readonly plugin: string; readonly act: string },
    task: () => Promise<T>,
  ): Promise<T> => {
    try {
      const result = await task();
      audit.record({ ...recorded, outcome: 'done' });
      return result;
    } catch (error) {
      audit.record({ ...recorded, outcome: auditedOutcome(error), reason: sentenceOf(error)?.split('\n', 1)[0] });
      throw error;
    }
  };

  const assertAllowed = async (entry: Registered, wanted: WebAccess | undefined, name: string, actor: Actor) => {
    if (wanted === undefined) return;
    const decision = await decide(entry, wanted, `${entry.page.name} ${name}`, actor);
    if (!decision.allowed) throw denial(decision);
  };

  const openFile = async (entry: Registered, name: string, request: WebRequest): Promise<WebFile> => {
    const { owner, page } = entry;
    const { actor, query } = request;
    const source = ownOf(page.files, name);
    return audited({ actor, plugin: owner.id, act: source.audit(query) }, async () => {
      await assertAllowed(entry, source.access, name, actor);
      return source.open(request);
    });
  };

  const runAct = async (entry: Registered, name: string, given: unknown, request: WebRequest): Promise<WebResult> => {
    const { owner, page } = entry;
    const act = ownOf(page.acts, name);
    const { actor } = request;
    const input = parsed(act, given);
    const run = async () => {
      await assertAllowed(entry, act.access, name, actor);
      const result = await act.run(input, request);
      if (typeof result === 'string') return { said: result };
      const { blocks, ...rest } = result;
      return blocks === undefined ? rest : { ...rest, blocks: withQuestions(blocks, page.acts) };
    };
    return act.audit === undefined ? run() : audited({ actor, plugin: owner.id, act: act.audit(input) }, run);
  };

  const list = async (actor: Actor): Promise<readonly WebPageInfo[]> => {
    const about = [...pages.values()].filter((entry) => isAbout(entry, actor));
    const decisions = await Promise.all(about.map((entry) => decide(entry, entry.page.access, entry.page.name, actor)));
    const seen = about.filter(
      ({ owner }, index) => decisions[index]?.allowed === true && enabledIn(actor.guildId, owner.plugin),
    );
    return languages.serve({ guildId: actor.guildId, userId: actor.userId }, undefined, () => seen.map(asInfo));
  };

  /** Whether the actor sees any page of a guild. Stops at the first one, since this runs for each of thousands of guilds. */
  const seesAny = async (actor: Actor): Promise<boolean> => {
    for (const entry of pages.values()) {
      if (!isAbout(entry, actor)) continue;
      const { allowed } = await decide(entry, entry.page.access, entry.page.name, actor, access.decideListed);
      if (allowed && enabledIn(actor.guildId, entry.owner.plugin)) return true;
    }
    return false;
  };

  return {
    page(owner, page) {
      const id = `${owner.id}/${page.name}`;
      assertName('page', page.name, NAME.test(page.name));
      if (pages.has(id))
        throw new CinnabarError('CINNABAR_NAME_TAKEN', { kind: 'page', name: page.name, plugin: owner.id });
      const entry = { owner, page };
      const dispose = owner.scope.add(`page ${page.name}`, () => {
        if (pages.get(id) === entry) pages.delete(id);
      });
      pages.set(id, entry);
      return dispose;
    },
    addRoute(owner, { path, handle }) {
      const whole = `/${owner.id}${path}`;
      assertName('route', whole, PATH.test(path) && !RESERVED_PATHS.includes(owner.id));
      if (routes.has(whole))
        throw new CinnabarError('CINNABAR_NAME_TAKEN', { kind: 'route', name: whole, plugin: owner.id });
      const dispose = owner.scope.add(`route ${whole}`, () => {
        if (routes.get(whole) === tracked) routes.delete(whole);
      });
      const tracked: WebRoute['handle'] = (request, response) =>
        boundary.track(owner, async () => handle(request, response));
      routes.set(whole, tracked);
      return dispose;
    },
    get url() {
      return served?.url;
    },
    serveAt(url) {
      const server = { url };
      served = server;
      return () => {
        if (served === server) served = undefined;
      };
    },
    route: (path) => routes.get(path),
    list,
    async guilds(userId) {
      const guilds = await guildsOf(userId);
      const seen = await severalAtATime(guilds, ({ id }) => seesAny({ userId, guildId: id, channelId: NO_CHANNEL }));
      return guilds
        .filter((_, index) => seen[index])
        .map((guild) => ({ id: guild.id, name: guild.name, icon: guild.iconURL({ size: 64 }) }));
    },
    names: (blocks, actor) => namesOf(idsIn(blocks), actor, { access, client }),
    namesOf: (ids, actor) => namesOf(ids, actor, { access, client }),
    choices: (kind, search, actor) => choicesFor(kind, search, actor, { access, client }),
    view: (id, request) =>
      serve(id, request.actor, async ({ page }) => {
        const view = await page.view(request);
        return { ...view, blocks: withQuestions(view.blocks, page.acts) };
      }),
    card: (id, request) =>
      serve(id, request.actor, async ({ page }) => withQuestions((await page.card?.(request)) ?? [], page.acts)),
    file: (id, name, request) => serve(id, request.actor, (entry) => openFile(entry, name, request)),
    act: (id, act, input, request) => serve(id, request.actor, (entry) => runAct(entry, act, input, request)),
    async watch(id, request, changed) {
      const { owner, page } = await enter(id, request.actor);
      const end = page.watch?.(request, changed);
      if (end === undefined) return () => undefined;
      const dispose = owner.scope.add(`watched page ${page.name}`, end);
      return () => void dispose();
    },
    async explain(id, actor) {
      const entry = pages.get(id);
      if (entry === undefined) throw new CinnabarError('CINNABAR_PAGE_UNKNOWN');
      return decideAboutPage(entry, actor);
    },
  };
}

const requestFor = (
  owner: Owner,
  policy: Exclude<WebAccess, { readonly command: string }>,
  name: string,
): AccessRequest => ({
  kind: 'component',
  name: `page ${name}`,
  plugin: owner.id,
  policy,
});

/** @throws CINNABAR_PAGE_UNKNOWN for a name that the page has not declared */
function ownOf<T>(declared: Readonly<Record<string, T>> = {}, name: string): T {
  const found = Object.hasOwn(declared, name) ? declared[name] : undefined;
  if (found === undefined) throw new CinnabarError('CINNABAR_PAGE_UNKNOWN');
  return found;
}

const auditedOutcome = (error: unknown) => {
  const outcome = outcomeOf(error);
  return outcome === 'unanswered' ? 'failed' : outcome;
};

/** @throws CINNABAR_SETTING_INVALID, naming the field */
function parsed(act: WebAct, given: unknown) {
  const { success, data, error } = act.input.safeParse(given, issueLanguage());
  if (success) return data;
  const [issue] = error.issues;
  throw new CinnabarError('CINNABAR_SETTING_INVALID', {
    key: issue?.path.join('.') || t('what was sent'),
    detail: `${plainIssue(issue?.message ?? '')}.`,
  });
}

function assertName(kind: 'page' | 'route', name: string, isValid: boolean): void {
  if (isValid) return;
  const detail =
    kind === 'page'
      ? 'use lower case letters, digits and `-`, at most 32'
      : 'it is not a path, or one of the web server itself';
  throw new CinnabarError('CINNABAR_NAME_INVALID', { kind, name, detail });
}

type Acts = NonNullable<WebPage['acts']>;

/** The blocks with a question on each button and form of an act that destroys something. */
function withQuestions(blocks: readonly WebBlock[], acts: Acts = {}): readonly WebBlock[] {
  return blocks.map((block): WebBlock => {
    switch (block.kind) {
      case 'buttons':
        return { ...block, buttons: block.buttons.map((button) => asking(button, acts)) };
      case 'form': {
        const { buttons, ...form } = asking(block, acts);
        return buttons === undefined ? form : { ...form, buttons: buttons.map((button) => asking(button, acts)) };
      }
      case 'table':
        return { ...block, rows: block.rows.map((row) => withRowQuestions(row, acts)) };
      case 'section':
        return { ...block, blocks: withQuestions(block.blocks, acts) };
      case 'steps':
        return { ...block, steps: block.steps.map((step) => ({ ...step, blocks: withQuestions(step.blocks, acts) })) };
      default:
        return block;
    }
  });
}

const withRowQuestions = <R extends { readonly buttons?: readonly WebButton[] }>(row: R, acts: Acts): R =>
  row.buttons === undefined ? row : { ...row, buttons: row.buttons.map((button) => asking(button, acts)) };

function asking<B extends Pick<WebButton, 'act' | 'input' | 'question'>>(button: B, acts: Acts): B {
  const act = Object.hasOwn(acts, button.act) ? acts[button.act] : undefined;
  if (act?.effect !== 'destroys' || button.question !== undefined) return button;
  const { data = {} } = act.input.partial().safeParse(button.input ?? {});
  return { ...button, question: act.question(data) };
}

const asInfo = ({ owner, page }: Registered): WebPageInfo => ({
  id: `${owner.id}/${page.name}`,
  title: translated(page.title),
  description: page.description === undefined ? undefined : translated(page.description),
  about: page.about,
  group: page.group,
  hasCard: page.card !== undefined,
});

/** The number of concurrent requests about guilds of a person. */
const AT_A_TIME = 20;

/** Runs a task for several guilds concurrently: each costs a request where Discord does not send changes of members. */
const severalAtATime = <T>(guilds: readonly Guild[], ask: (guild: Guild) => Promise<T>): Promise<T[]> =>
  new PQueue({ concurrency: AT_A_TIME }).addAll(guilds.map((guild) => () => ask(guild)));

/** Maximum number of guilds for which the person's membership is requested from Discord. */
const MOST_ASKED = 100;
const MEMBERSHIPS_MS = 5 * 60_000;

/**
 * The guilds that a person and the bot share. Memberships that are not in memory are requested from Discord for some guilds; the result is cached for 5
 * minutes.
 */
function createMemberships(client: Client, clock: Clock) {
  const known = new LRUCache<string, { readonly ids: ReadonlySet<string>; readonly until: number }>({ max: 1_000 });
  return async (userId: string): Promise<readonly Guild[]> => {
    const all = [...client.guilds.cache.values()];
    const kept = known.get(userId);
    if (kept !== undefined && kept.until > clock.now())
      return sorted(all.filter(({ id: guildId }) => kept.ids.has(guildId)));
    const isKnown = (guild: Guild) => guild.ownerId === userId || guild.members.cache.has(userId);
    const found = all.filter(isKnown);
    const asked = all.filter((guild) => !isKnown(guild)).slice(0, MOST_ASKED);
    const answers = await severalAtATime(asked, (guild) => guild.members.fetch(userId).catch(() => undefined));
    found.push(...asked.filter((_, index) => answers[index] !== undefined));
    known.set(userId, { ids: new Set(found.map((guild) => guild.id)), until: clock.now() + MEMBERSHIPS_MS });
    return sorted(found);
  };
}

const sorted = (guilds: readonly Guild[]): readonly Guild[] =>
  guilds.toSorted((one, other) => one.name.localeCompare(other.name));
