import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';
import { cinnabar } from '../../support/cinnabar.js';

const LOOP = fileURLToPath(new URL('./support/install-loop.js', import.meta.url));
const ROUNDS = 3;
const LONGEST_MS = 60;

describe('a process that is killed while it installs', () => {
  it('leaves the old version or the new one, whole, and nothing else once the next change is made', async () => {
    const dataDir = await mkdtemp(join(tmpdir(), 'cinnabar-killed-'));
    try {
      for (let round = 0; round < ROUNDS; round += 1) {
        const child = spawn(process.execPath, [LOOP, dataDir], { stdio: ['ignore', 'pipe', 'inherit'] });
        await once(child.stdout, 'data');
        await wait(Math.random() * LONGEST_MS);
        child.kill('SIGKILL');
        await once(child, 'exit');
        const place = { cwd: dataDir, env: { CINNABAR_DATA: dataDir } };
        const listed = await cinnabar(['plugin', 'list', '--verify'], place);
        expect(listed).to.include({ code: 0, err: '' });
        expect(listed.out).to.match(/^dice 1\.0\.\d+ .*; verified\)\n$/);
        // It finds nothing to install.
        const next = await cinnabar(['plugin', 'add', './nothing'], place);
        expect(next).to.include({ code: 1 });
        expect(await readdir(join(dataDir, 'plugins', 'dice'))).to.have.length(1);
        expect(await readdir(join(dataDir, 'plugins', '.work'))).to.deep.equal([]);
      }
    } finally {
      await rm(dataDir, { recursive: true, force: true });
    }
  });
});
