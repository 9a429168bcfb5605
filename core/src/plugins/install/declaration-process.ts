/** Runs in a separate process without permission to write files, start programs, or use the network: reports what plugins declare, and ends. */
import { openHostBundle } from '../../bundling/run-host.js';
import type { DeclarationTask } from './declaration.js';

// Few imports: the host comes from its bundle when that is up to date, and otherwise from its own files.

process.once('message', async ({ bundleDir, plugins }: DeclarationTask) => {
  const bundle = openHostBundle(bundleDir, { runsBot: false, onUnusable: () => undefined });
  const { recordDeclarations } = bundle ?? (await import('./record-declarations.js'));
  const answers = await recordDeclarations(plugins);
  process.send?.(answers, () => process.exit());
});
