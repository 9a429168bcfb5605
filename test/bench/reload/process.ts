/** A process that reloads a plugin many times: `node --expose-gc process.js TECHNIQUE ROUNDS FOLDER`. Prints its result as JSON. */
import { TECHNIQUES, type TechniqueName } from './technique.js';

/** The remaining versions of a plugin. */
export interface Remains {
  /** Number of versions that were not garbage-collected. */
  readonly alive: number;
  readonly heapBytesPerReload: number;
  readonly msPerReload: number;
}

/** Rounds before the measurement: code is still being compiled, and caches are filled once. */
const WARM_UP = 20;
const COLLECTIONS = 8;

const [name, rounds, folder = ''] = process.argv.slice(2);
const technique: TechniqueName = name === 'import' ? 'import' : 'ours';
process.stdout.write(JSON.stringify(await measure(Number(rounds))));

async function measure(count: number): Promise<Remains> {
  const reload = await TECHNIQUES[technique](folder);
  for (let version = -WARM_UP; version < 0; version++) await reload(version);
  const heapBefore = await heapBytes();
  const started = performance.now();
  const versions: WeakRef<object>[] = [];
  for (let version = 0; version < count; version++) versions.push(new WeakRef(await reload(version)));
  const msPerReload = (performance.now() - started) / count;
  const heapBytesPerReload = ((await heapBytes()) - heapBefore) / count;
  return { alive: versions.filter((one) => one.deref() !== undefined).length, heapBytesPerReload, msPerReload };
}

async function heapBytes(): Promise<number> {
  for (let round = 0; round < COLLECTIONS; round++) {
    // An object that was read through a WeakRef stays alive until the end of the turn of the event loop.
    await new Promise((resolve) => setImmediate(resolve));
    globalThis.gc?.();
  }
  return process.memoryUsage().heapUsed;
}
