/** Makes backups, or restores one repeatedly, until it is killed. */
import { backedUp, restored } from './world.js';

const [what = '', dataDir = '', ...files] = process.argv.slice(2);

process.stdout.write('started\n');
for (let round = 0; ; round += 1) {
  for (const file of files) {
    if (what === 'backup') await backedUp(dataDir, file, { withSecrets: true });
    else await restored(file, dataDir, { now: round });
  }
}
