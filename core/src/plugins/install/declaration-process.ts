/** Runs in a separate process without permission to write files, start programs, or use the network: reports what plugins declare, and ends. */
import { setFlagsFromString } from 'node:v8';
import { openHostBundle } from '../../bundling/run-host.js';
import type { DeclarationTask } from './declaration.js';

// Few imports: the host comes from its bundle when that is up to date, and otherwise from its own files.

process.once('message', async ({ bundleDir, plugins }: DeclarationTask) => {
  // V8 has read this process's limit at its start and keeps it. Until the option is reset, V8 refuses the code cache of the bundle, which was made without it.
  setFlagsFromString('--max-old-space-size=0');
  const bundle = openHostBundle(bundleDir, { runsBot: false, onUnusable: () => undefined });
  const { recordDeclarations } = bundle ?? (await import('./record-declarations.js'));
  const answers = await recordDeclarations(plugins);
  process.send?.(answers, () => process.exit());
});
