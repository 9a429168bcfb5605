import { CinnabarError, type ErrorCode } from '@cinnabar/sdk';
import { type Finder, loadDefinition, takeIn } from './load.js';
import { settle } from './reconcile.js';
import { type LifecycleContext, noteFailure, type PluginRecord, problemOf, release, stateOf } from './records.js';

export interface BootReport {
  readonly running: readonly string[];
  /** Everything that did not start, with a sentence each: broken folders, failed plugins, those that wait. */
  readonly problems: readonly { readonly plugin: string; readonly problem: string; readonly code?: ErrorCode }[];
}

interface BootOptions {
  /** Ids or folders: nothing else is started. */
  readonly only: readonly string[] | undefined;
  readonly disabled: readonly string[];
}

/** Finds, loads and starts what is to run. Never rejects for a plugin's sake. */
export async function boot(
  lifecycle: LifecycleContext,
  finder: Finder,
  { only, disabled }: BootOptions,
): Promise<BootReport> {
  await lifecycle.guards.open();
  const broken = await finder.refresh();
  // Who asks for certain plugins does not ask about the others.
  const unusable = only === undefined ? broken : [];
  for (const { message } of unusable) lifecycle.log.warn(message);
  const chosen = only === undefined ? [...lifecycle.records.values()] : await chosenRecords(finder, only);
  const wanted = chosen.filter(({ id }) => !disabled.includes(id));
  // Whoever starts the host without a guard, by name, does without it. One that merely fails goes on guarding.
  for (const { id, manifest } of [...lifecycle.records.values()].filter((record) => !wanted.includes(record))) {
    if (disabled.includes(id) && lifecycle.guards.get(id) !== undefined) {
      lifecycle.log.warn(`${id} is switched off by the configuration, so tools run without it`, { plugin: id });
    }
    await lifecycle.guards.note({ ...manifest, guard: false });
  }
  const loaded = await Promise.all(wanted.map((record) => attempt(lifecycle, record)));
  // Taken in one after another, so that of two plugins with one id the first found is kept whatever takes longer to build.
  for (const { record, result } of loaded) await takeInOrNote(lifecycle, record, result);
  for (const id of disabled) {
    const record = lifecycle.records.get(id);
    if (record !== undefined) release(record);
  }
  await settle(lifecycle);
  return report(lifecycle, unusable);
}

async function chosenRecords(finder: Finder, only: readonly string[]): Promise<readonly PluginRecord[]> {
  const chosen: PluginRecord[] = [];
  for (const wanted of only) {
    const record = finder.find(wanted) ?? (wanted.includes('/') ? await finder.include(wanted) : undefined);
    if (record === undefined) throw new CinnabarError('CINNABAR_PLUGIN_UNKNOWN', { plugin: wanted });
    chosen.push(record);
  }
  return chosen;
}

async function attempt(lifecycle: LifecycleContext, record: PluginRecord) {
  const result = await loadDefinition(lifecycle, record, false).catch((error: unknown) => ({ error }));
  return { record, result };
}

async function takeInOrNote(
  lifecycle: LifecycleContext,
  record: PluginRecord,
  result: Awaited<ReturnType<typeof attempt>>['result'],
): Promise<void> {
  if ('error' in result) return noteFailure(lifecycle, record, result.error);
  try {
    await takeIn(lifecycle, record, result);
  } catch (error) {
    noteFailure(lifecycle, record, error);
  }
}

function report(lifecycle: LifecycleContext, broken: readonly CinnabarError[]): BootReport {
  const records = [...lifecycle.records.values()];
  const failed = records.flatMap((record) => {
    const problem = problemOf(lifecycle, record);
    if (problem === undefined) return [];
    const { id, failure } = record;
    return [failure === undefined ? { plugin: id, problem } : { plugin: id, problem, code: failure.code }];
  });
  const unusable = broken.map(({ message, params }) => ({
    plugin: String(params.plugin ?? params.place),
    problem: message,
  }));
  const running = records.filter((record) => stateOf(record) === 'running').map(({ id }) => id);
  return { running, problems: [...unusable, ...failed] };
}
