/** Backs up, or restores one backup after the other, until it is killed. */
import { backUp } from '@cinnabar/core/internal/backup/backups';
import { restoreBackup } from '@cinnabar/core/internal/backup/restore';

const [what = '', dataDir = '', ...files] = process.argv.slice(2);
const places = {
  dataDir,
  cacheDir: `${dataDir}/cache`,
  buildCacheDir: `${dataDir}/cache`,
  logDir: `${dataDir}/logs`,
  botName: undefined,
};
const contents = { withSecrets: true, secrets: new Map(), plugins: [], now: 0, driver: {} };

process.stdout.write('started\n');
for (let round = 0; ; round += 1) {
  for (const file of files) {
    if (what === 'backup') await backUp(file, places, contents);
    else await restoreBackup(file, { dataDir, now: round });
  }
}
