import { spawn } from 'node:child_process';
import { constants, setPriority } from 'node:os';
import { fileURLToPath } from 'node:url';
import { bundleDirOf, IS_SOURCE_TREE } from './built.js';

/**
 * After a start without a bundle, installed packages are bundled in a separate process with low priority, so that neither this start nor the next one waits.
 * The source tree is bundled before a start (`core/bootstrap.mjs`).
 * @param onFailure called when that did not work: the next start takes as long as this one, and tries again
 */
export function bundleForNextStart(buildCacheDir: string, onFailure: () => void): void {
  if (IS_SOURCE_TREE) return;
  const script = fileURLToPath(new URL('../cli/build-host.js', import.meta.url));
  const args = [script, String(Date.now()), bundleDirOf(buildCacheDir)];
  const child = spawn(process.execPath, args, { stdio: 'ignore' });
  child.once('error', onFailure);
  child.once('exit', (code) => {
    // The stop of the bot may have stopped this process, too.
    if (code !== 0 && code !== null) onFailure();
  });
  child.unref();
  try {
    if (child.pid !== undefined) setPriority(child.pid, constants.priority.PRIORITY_LOW);
  } catch {
    // Where a lower priority is not allowed, it runs with the normal one.
  }
}
