import { CinnabarError, type Plugin, type ReloadReport, t, z } from '@cinnabar/sdk';
import { arrangement, hindranceError } from '../start-order.js';

import { loadDefinition } from './load.js';
import {
  adopt,
  assertNoneRequired,
  failureError,
  type LifecycleContext,
  noteFailure,
  type Origin,
  type PluginRecord,
  stateOf,
} from './records.js';
import { settle, startRun, stopDependents, stopRun } from './start-stop.js';

/**
 * Replaces a plugin by its newest version. When the new version fails, the old one continues, or is started again.
 * @throws CINNABAR_PLUGIN_RELOAD with the reason, when the old version runs; otherwise the error itself; CINNABAR_PLUGIN_STATE when the plugin is not loaded
 */
export async function reload(lifecycle: LifecycleContext, record: PluginRecord): Promise<ReloadReport> {
  const state = stateOf(record);
  if (state === 'stopped')
    throw new CinnabarError('CINNABAR_PLUGIN_STATE', { plugin: record.id, state: t('not loaded') });
  const from = record.manifest.version;
  const changes = state === 'running' ? await replace(lifecycle, record) : await retry(lifecycle, record);
  return { id: record.id, from, to: record.manifest.version, changes };
}

/**
 * Replaces an installed plugin by the version in another folder, as `reload` does. For a plugin that is not loaded, the version is used at its next load.
 * @throws the errors of `reload`: the record has its old version then
 */
export async function update(lifecycle: LifecycleContext, record: PluginRecord, origin: Origin): Promise<void> {
  const before = record.origin;
  record.origin = origin;
  try {
    if (stateOf(record) !== 'stopped') await reload(lifecycle, record);
  } catch (error) {
    record.origin = before;
    throw error;
  }
}

async function replace(lifecycle: LifecycleContext, record: PluginRecord): Promise<readonly string[]> {
  const { definition, run } = record;
  if (definition === undefined || run === undefined) return [];
  const before = { definition, registered: run.registered };
  try {
    const next = await candidate(lifecycle, record);
    assertFits(lifecycle, record.id, next);
    await stopDependents(lifecycle, record);
    await stopRun(lifecycle, record);
    await takeOver(lifecycle, record, before.definition, next);
  } catch (error) {
    await settle(lifecycle);
    throw record.run === undefined ? error : notReloaded(record, error);
  }
  await settle(lifecycle);
  return changesBetween(before, {
    definition: record.definition ?? definition,
    registered: record.run?.registered ?? [],
  });
}

/** Starts the new version; when that fails, the old one again. */
async function takeOver(lifecycle: LifecycleContext, record: PluginRecord, old: Plugin, next: Plugin): Promise<void> {
  try {
    await lifecycle.guards.note(next.manifest);
    record.run = await startRun(lifecycle, next);
    adopt(record, next);
  } catch (error) {
    await lifecycle.guards.note(old.manifest);
    await startAgain(lifecycle, record, old, error);
    throw error;
  }
}

async function startAgain(
  lifecycle: LifecycleContext,
  record: PluginRecord,
  old: Plugin,
  cause: unknown,
): Promise<void> {
  try {
    record.run = await startRun(lifecycle, old);
  } catch (error) {
    const detail = `${sentence(cause)} Version ${old.manifest.version} did not start again either: ${sentence(error)}`;
    const failure = new CinnabarError('CINNABAR_PLUGIN_SETUP', { plugin: record.id, detail }, { cause: error });
    noteFailure(lifecycle, record, failure);
    throw failure;
  }
}

/** Replaces the version of a plugin that does not run, without a way back to the old one, and starts it if possible. */
async function retry(lifecycle: LifecycleContext, record: PluginRecord): Promise<readonly string[]> {
  const next = await candidate(lifecycle, record);
  await lifecycle.guards.note(next.manifest);
  adopt(record, next);
  await settle(lifecycle);
  if (record.failure !== undefined) throw failureError(record.failure);
  return [];
}

async function candidate(lifecycle: LifecycleContext, record: PluginRecord): Promise<Plugin> {
  const next = await loadDefinition(lifecycle, record, true);
  if (next.manifest.id === record.id) return next;
  const detail = `its id was "${record.id}" and is now "${next.manifest.id}": unload the one and load the other`;
  throw new CinnabarError('CINNABAR_PLUGIN_INVALID', { place: record.origin.path, detail });
}

/** Checks that the new version can start, and provides the services that required plugins need. @throws the coded reason */
function assertFits(lifecycle: LifecycleContext, id: string, next: Plugin): void {
  const { hindered } = arrangement(lifecycle, { id, by: next });
  const hindrance = hindered.get(id);
  if (hindrance !== undefined) throw hindranceError(id, hindrance);
  assertNoneRequired(lifecycle, id, hindered);
}

function notReloaded({ id, manifest }: PluginRecord, error: unknown): CinnabarError {
  const params = { plugin: id, detail: sentence(error), version: manifest.version };
  return new CinnabarError('CINNABAR_PLUGIN_RELOAD', params, { cause: error });
}

/** The message of an error with a full stop, since other sentences follow it. */
function sentence(error: unknown): string {
  const message = error instanceof Error ? error.message : String(error);
  return /[.!?]$/.test(message) ? message : `${message}.`;
}

/** The properties of a version that are compared. */
interface Visible {
  readonly definition: Plugin;
  /** Labels of what its `setup` registered. */
  readonly registered: readonly string[];
}

/** The differences, for people: "command roll added", "setting greeting removed", "intent GuildMembers added". */
function changesBetween(before: Visible, after: Visible): readonly string[] {
  return [
    ...countChanges(before.registered, after.registered),
    ...settingChanges(settingsOf(before.definition), settingsOf(after.definition)),
    ...countChanges(intentsOf(before.definition), intentsOf(after.definition)),
  ];
}

function countChanges(before: readonly string[], after: readonly string[]): readonly string[] {
  return [...new Set([...before, ...after])].flatMap((label) => {
    const difference = count(after, label) - count(before, label);
    return Array.from({ length: Math.abs(difference) }, () =>
      difference > 0 ? t('{what} added', { what: label }) : t('{what} removed', { what: label }),
    );
  });
}

function count(labels: readonly string[], wanted: string): number {
  return labels.filter((label) => label === wanted).length;
}

function intentsOf({ manifest }: Plugin): readonly string[] {
  return (manifest.intents ?? []).map((intent) => `intent ${intent}`);
}

/** Each setting's JSON Schema by its label. */
function settingsOf({ settings }: Plugin): ReadonlyMap<string, string> {
  const fields = Object.values(settings).flatMap((schema) => Object.entries(schema?.shape ?? {}));
  return new Map(fields.map(([key, field]) => [`setting ${key}`, describe(field)]));
}

function describe(field: z.core.$ZodType): string {
  return JSON.stringify(z.toJSONSchema(field, { unrepresentable: 'any' }));
}

function settingChanges(before: ReadonlyMap<string, string>, after: ReadonlyMap<string, string>): readonly string[] {
  return [...new Set([...before.keys(), ...after.keys()])].flatMap((label) => {
    if (!before.has(label)) return t('{what} added', { what: label });
    if (!after.has(label)) return t('{what} removed', { what: label });
    return before.get(label) === after.get(label) ? [] : t('{what} changed', { what: label });
  });
}
