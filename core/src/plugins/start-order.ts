import { CinnabarError, type Injection, type Plugin } from '@cinnabar/sdk';
import type { LifecycleContext } from './lifecycle/records.js';

/** The properties of a plugin that determine the start order; tokens by id. */
export interface Dependent {
  readonly id: string;
  /** Tokens whose services the plugin requires. */
  readonly needs: readonly string[];
  /** Tokens of optional services. */
  readonly likes: readonly string[];
  readonly provides: readonly string[];
}

/** Why a plugin cannot start. */
export type Hindrance =
  /** No plugin provides the token. */
  | { readonly kind: 'missing'; readonly token: string }
  /** The provider of the token cannot start. */
  | { readonly kind: 'blocked'; readonly token: string; readonly provider: string }
  /** A dependency cycle: each waits for the next, and the last is the first. */
  | { readonly kind: 'circular'; readonly cycle: readonly string[] };

interface StartOrder {
  /** The plugins that can start, each after those that it requires, and after its optional ones unless that closes a cycle. */
  readonly order: readonly string[];
  readonly hindered: ReadonlyMap<string, Hindrance>;
}

/**
 * Orders plugins by the tokens that they inject and provide; otherwise their order is kept.
 * @param hostTokens tokens that the host provides
 */
export function orderPlugins(plugins: readonly Dependent[], hostTokens: (token: string) => boolean): StartOrder {
  const providers = providersOf(plugins);
  const hindered = findHindered(plugins, providers, hostTokens);
  const able = plugins.filter(({ id }) => !hindered.has(id));
  const before = edgesOf(able, providers);
  return { order: inDepth(able, before), hindered };
}

type Edges = ReadonlyMap<string, ReadonlySet<string>>;

function providersOf(plugins: readonly Dependent[]): ReadonlyMap<string, string> {
  const providers = new Map<string, string>();
  for (const { id, provides } of plugins) {
    for (const token of provides) if (!providers.has(token)) providers.set(token, id);
  }
  return providers;
}

function findHindered(
  plugins: readonly Dependent[],
  providers: ReadonlyMap<string, string>,
  hostTokens: (token: string) => boolean,
): ReadonlyMap<string, Hindrance> {
  const able = new Set<string>();
  const unmet = ({ needs }: Dependent) =>
    needs.find((token) => !hostTokens(token) && !able.has(providers.get(token) ?? ''));
  for (let grew = true; grew; ) {
    const ready = plugins.filter((plugin) => !able.has(plugin.id) && unmet(plugin) === undefined);
    for (const { id } of ready) able.add(id);
    grew = ready.length > 0;
  }

  const waits = new Map<string, { readonly token: string; readonly provider: string | undefined }>();
  for (const plugin of plugins) {
    const token = able.has(plugin.id) ? undefined : unmet(plugin);
    if (token !== undefined) waits.set(plugin.id, { token, provider: providers.get(token) });
  }
  const hindered = new Map<string, Hindrance>();
  for (const [id, { token, provider }] of waits) {
    const cycle = cycleThrough(id, (plugin) => waits.get(plugin)?.provider);
    if (cycle !== undefined) hindered.set(id, { kind: 'circular', cycle });
    else if (provider === undefined) hindered.set(id, { kind: 'missing', token });
    else hindered.set(id, { kind: 'blocked', token, provider });
  }
  return hindered;
}

function cycleThrough(start: string, next: (id: string) => string | undefined): readonly string[] | undefined {
  const path = [start];
  const seen = new Set(path);
  for (let id = next(start); id !== undefined; id = next(id)) {
    path.push(id);
    if (id === start) return path;
    if (seen.has(id)) return undefined;
    seen.add(id);
  }
  return undefined;
}

function edgesOf(plugins: readonly Dependent[], providers: ReadonlyMap<string, string>): Edges {
  const edges = new Map(plugins.map(({ id }) => [id, new Set<string>()]));
  const add = (from: string, token: string, allowed: (to: string) => boolean) => {
    const to = providers.get(token);
    if (to !== undefined && to !== from && edges.has(to) && allowed(to)) edges.get(from)?.add(to);
  };
  for (const { id, needs } of plugins) for (const token of needs) add(id, token, () => true);
  for (const { id, likes } of plugins) for (const token of likes) add(id, token, (to) => !reaches(edges, to, id));
  return edges;
}

/** Whether `from` must start after `to`, directly or through others. */
function reaches(edges: Edges, from: string, to: string, seen = new Set<string>()): boolean {
  if (from === to) return true;
  if (seen.has(from)) return false;
  seen.add(from);
  return [...(edges.get(from) ?? [])].some((next) => reaches(edges, next, to, seen));
}

function inDepth(plugins: readonly Dependent[], before: Edges): readonly string[] {
  const order = new Set<string>();
  const visit = (id: string) => {
    if (order.has(id)) return;
    for (const earlier of before.get(id) ?? []) visit(earlier);
    order.add(id);
  };
  for (const { id } of plugins) visit(id);
  return [...order];
}

/**
 * The start order of the loaded plugins, without failed ones.
 * @param change a plugin to treat as replaced by another version, or as removed
 */
export function arrangement(
  { records, services }: Pick<LifecycleContext, 'records' | 'services'>,
  change?: { readonly id: string; readonly by: Plugin | undefined },
): StartOrder {
  const plugins = [...records.values()].flatMap(({ id, definition, failure }) => {
    if (id === change?.id) return change.by ?? [];
    return failure === undefined ? (definition ?? []) : [];
  });
  return orderPlugins(plugins.map(asDependent), services.ofHost);
}

/** Why a plugin cannot start, as a coded error. */
export function hindranceError(plugin: string, hindrance: Hindrance): CinnabarError {
  return hindrance.kind === 'circular'
    ? new CinnabarError('CINNABAR_DEPENDENCY_CIRCULAR', { cycle: hindrance.cycle.join(' → ') })
    : new CinnabarError('CINNABAR_DEPENDENCY_MISSING', { plugin, token: hindrance.token });
}

/** Ids of the tokens that a plugin injects. */
export function injectedTokens({ inject }: Plugin): {
  readonly needs: readonly string[];
  readonly likes: readonly string[];
} {
  const injections = Object.values(inject);
  const ids = (kind: Injection['kind']) =>
    injections.flatMap((injection) => (injection.kind === kind ? [idOf(injection)] : []));
  return { needs: ids('token'), likes: ids('optional') };
}

const dependents = new WeakMap<Plugin, Dependent>();

/** The properties of the plugin for the start order, which is computed again at each start of a plugin. */
function asDependent(plugin: Plugin): Dependent {
  const known = dependents.get(plugin);
  if (known !== undefined) return known;
  const ids = plugin.provides.map(({ id }) => id);
  const dependent = { id: plugin.manifest.id, ...injectedTokens(plugin), provides: ids };
  dependents.set(plugin, dependent);
  return dependent;
}

function idOf(injection: Injection): string {
  return injection.kind === 'optional' ? injection.token.id : injection.id;
}
