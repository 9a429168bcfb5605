import {
  CinnabarError,
  type Clock,
  type ErasedContext,
  type ErrorCode,
  type ErrorParams,
  type Logger,
  type Manifest,
  operatorSentenceOf,
  type Plugin,
  type PluginInfo,
  type PluginState,
  t,
} from '@cinnabar/sdk';
import type { Boundary, Owner } from '../../contracts.js';
import { didYouMean } from '../../storage/nearest.js';
import type { GuardRegistry } from '../manager.js';
import type { PluginServices } from '../services.js';
import { arrangement, type Hindrance, hindranceError, injectedTokens } from '../start-order.js';

/** The path of plugins that the program passes in memory. */
export const IN_MEMORY = '(memory)';

/** Where a plugin comes from, and how its newest version is loaded. */
export interface Origin {
  readonly source: PluginInfo['source'];
  readonly path: string;
  /** Evaluates the plugin again. @param verify compares contents instead of modification times */
  load(verify: boolean): Promise<Plugin>;
}

/** One run of a plugin, from a setup that succeeded until it is stopped. */
export interface Run {
  readonly owner: Owner;
  /** Increases with each run. A run never depends on a later one. */
  readonly sequence: number;
  /** The injected services by token id: the provision, or `undefined` for an optional token without one. */
  readonly injected: ReadonlyMap<string, number | undefined>;
  /** Labels of what `setup` registered. */
  readonly registered: readonly string[];
}

/** A coded error without its causes and stack, which would keep the plugin's code in memory. */
interface Failure {
  readonly code: ErrorCode;
  readonly params: ErrorParams;
}

/** The data about one plugin. Its state is derived from these fields. */
export interface PluginRecord {
  readonly id: string;
  origin: Origin;
  /** A copy, so that nothing of an unloaded version is kept. */
  manifest: Manifest;
  /** Set while the plugin is loaded, whether or not it can run. */
  definition: Plugin | undefined;
  run: Run | undefined;
  /** Why the last attempt to load or start it failed. */
  failure: Failure | undefined;
}

export function stateOf({ run, failure, definition }: PluginRecord): PluginState {
  if (run !== undefined) return 'running';
  if (failure !== undefined) return 'failed';
  return definition === undefined ? 'stopped' : 'waiting';
}

/** The record of a plugin whose code was not loaded, with the data of its package. */
export function unseen(id: string, origin: Origin, known: Partial<Manifest>): PluginRecord {
  const manifest = { version: '0.0.0', description: '', ...known, id };
  return { id, origin, manifest, definition: undefined, run: undefined, failure: undefined };
}

/** Stores a definition in the record. */
export function adopt(record: PluginRecord, definition: Plugin): void {
  record.definition = definition;
  record.manifest = copyOf(definition.manifest);
  record.failure = undefined;
}

/** Removes a plugin's code from the record. */
export function release(record: PluginRecord): void {
  record.definition = undefined;
  record.failure = undefined;
}

/** The part of an error that is kept. */
export function failureOf(plugin: string, error: unknown): Failure {
  if (error instanceof CinnabarError) return { code: error.code, params: error.params };
  return { code: 'CINNABAR_PLUGIN_SETUP', params: { plugin, detail: reasonOf(error) } };
}

/** The message of an error, for the log. */
export function reasonOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** The sentence about an error for operators, in their language. */
const reasonFor = (error: CinnabarError) => operatorSentenceOf(error) ?? error.message;

export function failureError({ code, params }: Failure): CinnabarError {
  return new CinnabarError(code, params);
}

function copyOf(manifest: Manifest): Manifest {
  return {
    ...manifest,
    ...(manifest.intents && { intents: [...manifest.intents] }),
    ...(manifest.permissions && { permissions: [...manifest.permissions] }),
  };
}

/** State that the steps of the lifecycle share. */
export interface LifecycleContext {
  readonly records: Map<string, PluginRecord>;
  readonly services: PluginServices;
  readonly createContext: (owner: Owner) => ErasedContext | Promise<ErasedContext>;
  readonly boundary: Pick<Boundary, 'drained'>;
  readonly guards: GuardRegistry;
  readonly clock: Clock;
  readonly log: Logger;
  /** Aborts when the host stops: no plugin is started after that, and waits end. */
  readonly ending: AbortSignal;
  /** Ids of the plugins that started or stopped since the last announcement. */
  readonly touched: Set<string>;
  /** Returns the `sequence` of the next run. */
  nextSequence(): number;
}

/** A plugin as `Plugins.list` shows it. */
export function infoOf(lifecycle: LifecycleContext, record: PluginRecord): PluginInfo {
  const { id, manifest, origin, definition, run } = record;
  const { needs, likes } = definition === undefined ? { needs: [], likes: [] } : injectedTokens(definition);
  const problem = problemOf(lifecycle, record);
  return {
    id,
    manifest,
    state: stateOf(record),
    source: origin.source,
    path: origin.path,
    ...(problem === undefined ? {} : { problem }),
    env: Object.keys(definition?.env?.shape ?? {}),
    provides: definition?.provides.map((token) => token.id) ?? [],
    injects: [...needs, ...likes],
    effects: run?.owner.scope.effects ?? [],
  };
}

/** Why a plugin failed, or what it waits for; `undefined` when it runs or is not loaded. */
export function problemOf(lifecycle: LifecycleContext, record: PluginRecord): string | undefined {
  const state = stateOf(record);
  if (state === 'waiting') return waitingFor(lifecycle, record);
  return record.failure === undefined || state === 'running' ? undefined : reasonFor(failureError(record.failure));
}

type Runs = Pick<LifecycleContext, 'records' | 'services'>;

/** The running plugins that use the present service of a token, the last started first. */
export function usersOf({ records, services }: Runs, tokenId: string): readonly PluginRecord[] {
  const provision = services.provision(tokenId);
  if (provision === undefined) return [];
  return lastStartedFirst([...records.values()].filter(({ run }) => run?.injected.get(tokenId) === provision));
}

/** The running plugins that use a service of this plugin, directly or indirectly, the last started first. */
export function dependentRuns(runs: Runs, record: PluginRecord): readonly PluginRecord[] {
  const found = new Set<PluginRecord>();
  const visit = (provider: PluginRecord) => {
    for (const { id } of provider.definition?.provides ?? []) {
      if (runs.services.providerOf(id) !== provider.id) continue;
      for (const user of usersOf(runs, id)) {
        if (user === record || found.has(user)) continue;
        found.add(user);
        visit(user);
      }
    }
  };
  visit(record);
  return lastStartedFirst([...found]);
}

/** Whether a plugin has to restart, because its injected services are not the present ones of their tokens. */
export function isStale(runs: Runs, record: PluginRecord): boolean {
  const { run } = record;
  if (run === undefined) return false;
  return [...run.injected].some(([tokenId, was]) => {
    if (runs.services.provision(tokenId) === was) return false;
    return was !== undefined || !comesFromDependent(runs, record, tokenId);
  });
}

/** Whether the provider of an optional service depends on this plugin: such a service can never be injected, and restarting for it would never end. */
function comesFromDependent(runs: Runs, record: PluginRecord, tokenId: string): boolean {
  const provider = runs.services.providerOf(tokenId);
  return provider === record.id || dependentRuns(runs, record).some(({ id }) => id === provider);
}

export function lastStartedFirst(records: readonly PluginRecord[]): readonly PluginRecord[] {
  return [...records].sort((a, b) => (b.run?.sequence ?? 0) - (a.run?.sequence ?? 0));
}

/** @throws CINNABAR_PLUGIN_REQUIRED for a plugin that is needed to administer the bot */
export function assertNotRequired({ id, manifest }: PluginRecord): void {
  if (manifest.required !== true) return;
  throw new CinnabarError('CINNABAR_PLUGIN_REQUIRED', {
    plugin: id,
    detail: t('without it there is no way to switch it on again.'),
  });
}

/**
 * @param hindered plugins that could not run after a change of the plugin `id`
 * @throws CINNABAR_PLUGIN_REQUIRED when a required plugin that runs is among them
 */
export function assertNoneRequired(
  { records }: Pick<LifecycleContext, 'records'>,
  id: string,
  hindered: ReadonlyMap<string, Hindrance>,
): void {
  for (const dependent of hindered.keys()) {
    const record = records.get(dependent);
    if (record?.run === undefined || record.manifest.required !== true) continue;
    throw new CinnabarError('CINNABAR_PLUGIN_REQUIRED', {
      plugin: id,
      detail: t('"{plugin}" needs it.', { plugin: dependent }),
    });
  }
}

/** Tokens that a plugin requires and that have no service at the moment. */
export function unmetTokens({ services }: RunState, { definition }: PluginRecord): readonly string[] {
  const needs = definition === undefined ? [] : injectedTokens(definition).needs;
  return needs.filter((token) => services.provision(token) === undefined);
}

/** One sentence on what a plugin waits for. */
function waitingFor(lifecycle: RunState, record: PluginRecord): string {
  const hindrance = arrangement(lifecycle).hindered.get(record.id);
  if (hindrance?.kind === 'circular') return reasonFor(hindranceError(record.id, hindrance));
  const token = hindrance?.token ?? unmetTokens(lifecycle, record)[0] ?? '';
  const provider = [...lifecycle.records.values()].find(
    ({ id, definition }) => id !== record.id && definition?.provides.some((provided) => provided.id === token),
  );
  if (provider === undefined) return reasonFor(hindranceError(record.id, { kind: 'missing', token }));
  return t(
    'It waits for {token}, which "{provider}" provides; that plugin {state, select, running {has not offered it yet} stopped {is stopped} failed {is failed} other {is waiting}}.',
    { token, provider: provider.id, state: stateOf(provider) },
  );
}

/** Records why a plugin could not be loaded or started. */
export function noteFailure(lifecycle: LifecycleContext, record: PluginRecord, error: unknown): void {
  record.failure = failureOf(record.id, error);
  lifecycle.log.error(failureError(record.failure).message, { plugin: record.id, error });
}

type RunState = Pick<LifecycleContext, 'records' | 'services'>;

/** @returns CINNABAR_PLUGIN_UNKNOWN with the most similar id */
export function unknownPlugin(id: string, records: ReadonlyMap<string, unknown>): CinnabarError {
  return new CinnabarError('CINNABAR_PLUGIN_UNKNOWN', { plugin: id, hint: didYouMean(id, [...records.keys()]) });
}
