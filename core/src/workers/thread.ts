/** Runs in a worker thread: loads the requested modules, and answers one job after another. */
import { readlinkSync } from 'node:fs';
import { createRequire } from 'node:module';
import { setPriority } from 'node:os';
import { parentPort } from 'node:worker_threads';
import * as sdk from '@cinnabar/sdk/worker';
import { evaluate, type SharedModule } from '../plugins/build/evaluate.js';
// Only types, since the pool imports the whole SDK and discord.js, with which a thread takes five times as long to start.
import type { Answer, Report, Task } from './pool.js';

/** A lower priority than that of the main thread, which has to send heartbeats. Set on Linux only: elsewhere it would apply to the whole process. */
const NICE = 10;
if (process.platform === 'linux') setPriority(0, NICE);

const self = ownId();
const core = createRequire(import.meta.url);
const modules = new Map<string, Readonly<Record<string, unknown>>>();

/** Shares the SDK with modules. The whole SDK is loaded at its first use, since it is large and most modules do not need it. */
const shared: SharedModule = (specifier) => {
  if (specifier === '@cinnabar/sdk/worker') return sdk;
  return specifier === '@cinnabar/sdk' ? core(specifier) : undefined;
};

/** The id with which the pool reads this thread's processor time; `undefined` where the system does not report it (other than Linux). */
function ownId(): string | undefined {
  try {
    return readlinkSync('/proc/thread-self');
  } catch {
    return undefined;
  }
}

function load({ file, entry }: Task): Readonly<Record<string, unknown>> {
  const known = modules.get(file);
  if (known !== undefined) return known;
  const loaded = evaluate(file, entry, shared);
  if (typeof loaded !== 'object' || loaded === null) throw new TypeError(`${entry} exports nothing`);
  const functions = { ...loaded };
  modules.set(file, functions);
  return functions;
}

async function answer(task: Task): Promise<Answer> {
  try {
    const run = load(task)[task.name];
    parentPort?.postMessage({ loaded: true, thread: self } satisfies Report);
    if (typeof run !== 'function') throw new TypeError(`${task.entry} exports no function ${task.name}`);
    return { ok: true, value: await run(task.input) };
  } catch (error) {
    if (error instanceof sdk.UserError) return { ok: false, sentence: error.message };
    return { ok: false, trace: error instanceof Error ? (error.stack ?? error.message) : String(error) };
  }
}

parentPort?.on('message', async (task: Task) => {
  const result = await answer(task);
  try {
    parentPort?.postMessage(result);
  } catch (error) {
    // The result contains something that cannot be copied.
    parentPort?.postMessage({ ok: false, trace: String(error) } satisfies Answer);
  }
});
