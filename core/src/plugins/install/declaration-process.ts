/** Runs in a separate process without permission to write files, start programs, or use the network: reports what plugins declare, and ends. */
import { setFlagsFromString } from 'node:v8';
import { openHostBundle } from '../../bundling/run-host.js';
import type { DeclarationTask } from './declaration.js';

// Few imports: the host comes from its bundle when that is up to date, and otherwise from its own files.

process.once('message', async ({ bundleDir, plugins }: DeclarationTask) => {
  // Resets the option, with which V8 would refuse the code cache of the bundle. The limit itself, which V8 has read at the start, remains.
  setFlagsFromString('--max-old-space-size=0');
  const bundle = openHostBundle(bundleDir, { runsBot: false, onUnusable: () => undefined });
  const { recordDeclarations } = bundle ?? (await import('./record-declarations.js'));
  const answers = await recordDeclarations(plugins);
  process.send?.(answers, () => process.exit());
});
