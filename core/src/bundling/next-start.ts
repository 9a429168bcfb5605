import { spawn } from 'node:child_process';
import { constants, setPriority } from 'node:os';
import { fileURLToPath } from 'node:url';
import { bundleDirOf, IS_SOURCE_TREE } from './built.js';

/**
 * Installed packages are bundled once a bot has started without: in a process of its own that leaves the processor to the bot, so that neither this start
 * waits for it nor the next one. The source tree is bundled before a start (`core/bootstrap.mjs`).
 * @param onFailure called when that did not work: the next start takes as long as this one, and tries again
 */
export function bundleForNextStart(buildCacheDir: string, onFailure: () => void): void {
  if (IS_SOURCE_TREE) return;
  const script = fileURLToPath(new URL('../cli/build-host.js', import.meta.url));
  const args = [script, String(Date.now()), bundleDirOf(buildCacheDir)];
  const child = spawn(process.execPath, args, { stdio: 'ignore' });
  child.once('error', onFailure);
  child.once('exit', (code) => {
    // A stop of the bot may have stopped it, too.
    if (code !== 0 && code !== null) onFailure();
  });
  child.unref();
  try {
    if (child.pid !== undefined) setPriority(child.pid, constants.priority.PRIORITY_LOW);
  } catch {
    // Where that is not allowed, it takes its share.
  }
}
