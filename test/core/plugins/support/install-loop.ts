/**
 * The process that a test kills: it repeatedly replaces a plugin by the next version. Its argument is the data folder.
 */
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { measure } from '@cinnabar/core/internal/plugins/install/files';
import { createInstalledStore, type InstalledEntry } from '@cinnabar/core/internal/plugins/install/installed';

const FILES = 20;
const store = createInstalledStore(process.argv[2] ?? '');
const granted = { intents: [], permissions: [], hosts: [], env: [], injects: [], tools: [] };

for (let round = 0; ; round += 1) {
  const version = `1.0.${round}`;
  const work = join(await store.workFolder(String(round)), 'package');
  await mkdir(work);
  for (let n = 0; n < FILES; n += 1) await writeFile(join(work, `${n}.txt`), `${version} ${n}`.repeat(500));
  const { integrity } = await measure(work);
  const folder = `dice/${version}-${Buffer.from(integrity.slice('sha512-'.length), 'base64').toString('hex').slice(0, 12)}`;
  const entry: InstalledEntry = {
    packageName: 'dice',
    version,
    spec: 'dice',
    pinned: false,
    integrity,
    content: integrity,
    folder,
    granted,
  };
  await store.place(work, folder);
  await store.write({ format: 1, plugins: { dice: entry }, known: {} });
  await store.sweep();
  if (round === 0) process.stdout.write('going\n');
}
