import type { PluginInfo, PluginState } from '@cinnabar/sdk';
import {
  CinnabarError,
  type ErrorCode,
  type ErrorParams,
  type Manifest,
  operatorSentenceOf,
  type Plugin,
} from '@cinnabar/sdk';
import type { Owner } from '../../contracts.js';

/** The path of plugins that the program itself has made. */
export const IN_MEMORY = '(memory)';

/** Where a plugin comes from, and how its newest version is had. */
export interface Origin {
  readonly source: PluginInfo['source'];
  readonly path: string;
  /** Evaluates the plugin anew. @param verify trusts no time stamp */
  load(verify: boolean): Promise<Plugin>;
}

/** One run of a plugin, from a setup that succeeded until it is stopped. */
export interface Run {
  readonly owner: Owner;
  /** Counts up: a run never depends on a later one. */
  readonly sequence: number;
  /** What was injected, by token id: the provision, or `undefined` for an optional token that was not there. */
  readonly injected: ReadonlyMap<string, number | undefined>;
  /** Labels of what `setup` registered. */
  readonly registered: readonly string[];
}

/** A coded error without its causes and stack, which would keep the code of the plugin that they come from. */
export interface Failure {
  readonly code: ErrorCode;
  readonly params: ErrorParams;
}

/** All that is known of one plugin. Its state is derived from what is there. */
export interface PluginRecord {
  readonly id: string;
  origin: Origin;
  /** A copy, so that nothing of an unloaded version is kept. */
  manifest: Manifest;
  /** There while the plugin is loaded, whether or not it can run. */
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

/** A plugin whose code has not been seen: what its package says of it. */
export function unseen(id: string, origin: Origin, known: Partial<Manifest>): PluginRecord {
  const manifest = { version: '0.0.0', description: '', ...known, id };
  return { id, origin, manifest, definition: undefined, run: undefined, failure: undefined };
}

/** Makes a definition the record's own. */
export function adopt(record: PluginRecord, definition: Plugin): void {
  record.definition = definition;
  record.manifest = copyOf(definition.manifest);
  record.failure = undefined;
}

/** Forgets a plugin's code. */
export function release(record: PluginRecord): void {
  record.definition = undefined;
  record.failure = undefined;
}

/** What to keep of an error. */
export function failureOf(plugin: string, error: unknown): Failure {
  if (error instanceof CinnabarError) return { code: error.code, params: error.params };
  return { code: 'CINNABAR_PLUGIN_SETUP', params: { plugin, detail: reasonOf(error) } };
}

/** What went wrong, for those who run the bot. */
export function reasonOf(error: unknown): string {
  return operatorSentenceOf(error) ?? (error instanceof Error ? error.message : String(error));
}

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
