import { existsSync } from 'node:fs';
import { basename, dirname, extname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { WorkerModule } from '@cinnabar/sdk';
import type { Owner } from '../contracts.js';
import { type BuildOptions, build } from '../plugins/build/build.js';
import type { WorkerPool } from './pool.js';

export interface WorkerService {
  /** A worker module for one run of a plugin. Its jobs end with the plugin's scope, and its threads after them. */
  module<M extends object>(owner: Pick<Owner, 'id' | 'scope'>, url: URL): WorkerModule<M>;
  close(): Promise<void>;
}

const TIMEOUT_MS = 5_000;

export function createWorkers(pool: WorkerPool, options: Omit<BuildOptions, 'verify'>): WorkerService {
  return {
    module({ id, scope }, url) {
      const entry = sourceOf(fileURLToPath(url));
      let built: Promise<string> | undefined;
      /** Built once in a run of the plugin, so that all jobs of a version are the same version's. */
      const file = () => {
        built ??= build(
          { id: `${id}-${basename(entry, extname(entry))}`, path: packageOf(entry), entry },
          { ...options, verify: false },
        );
        return built;
      };
      scope.add(`worker ${basename(entry)}`, async () => {
        const loaded = await built?.catch(() => undefined);
        if (loaded !== undefined) await pool.retire(loaded, scope.signal.reason);
      });
      return {
        async run(name, input, { timeoutMs = TIMEOUT_MS, group = id, signal } = {}) {
          const loadable = await file();
          scope.signal.throwIfAborted();
          const value = await pool.run({ file: loadable, entry, name, input, timeoutMs, group, signal });
          // The function's own type is what the caller named: it ran there.
          return value as never;
        },
      };
    },
    close: pool.close,
  };
}

/** Sources name their modules as they will be called when compiled. */
function sourceOf(file: string): string {
  const typescript = file.replace(/\.js$/, '.ts');
  return existsSync(file) || !existsSync(typescript) ? file : typescript;
}

/** The folder with the nearest package.json. */
function packageOf(file: string): string {
  for (let folder = dirname(file); folder !== dirname(folder); folder = dirname(folder)) {
    if (existsSync(join(folder, 'package.json'))) return folder;
  }
  return dirname(file);
}
