/** A process that reloads one plugin many times: `node --expose-gc process.js TECHNIQUE ROUNDS FOLDER`. Prints what it found as JSON. */
import { TECHNIQUES, type TechniqueName } from './technique.js';

/** What is left of the versions of a plugin. */
export interface Remains {
  /** Versions that the garbage collector could not take back. */
  readonly alive: number;
  readonly heapBytesPerReload: number;
  readonly msPerReload: number;
}

/** Code that is still being compiled, caches that fill once. */
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
    // What was looked at through a WeakRef is held until the end of the turn.
    await new Promise((resolve) => setImmediate(resolve));
    globalThis.gc?.();
  }
  return process.memoryUsage().heapUsed;
}
