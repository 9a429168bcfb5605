import { existsSync, utimesSync } from 'node:fs';
import { join } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { createHost } from '@cinnabar/core';
import { createManualClock } from '@cinnabar/sdk/testing';
import { expect } from 'chai';
import { cinnabar } from '../../support/cinnabar.js';
import { makeFolder } from '../../support/folder.js';

/** A host that is stopped before it would log in. */
function hostIn(dataDir: string) {
  const clock = createManualClock();
  const host = createHost({
    clock,
    config: {
      token: 'token',
      discordApi: 'http://127.0.0.1:9/api',
      root: dataDir,
      botName: undefined,
      configDir: join(dataDir, 'config'),
      dataDir: join(dataDir, 'data'),
      cacheDir: join(dataDir, 'cache'),
      buildCacheDir: join(dataDir, 'cache'),
      logDir: join(dataDir, 'logs'),
      logLevel: 'debug',
      prefixes: ['!'],
      owners: [],
      pluginFolders: [],
      monitoring: { host: '127.0.0.1', port: 0 },
      disabledPlugins: [],
      presets: {},
      presetPlace: (plugin, key) => `${plugin}.${key}`,
      env: {},
    },
    only: [],
  });
  return { host, clock };
}

describe('a start that is stopped', () => {
  it('while it waits for the lock ends at once, and takes nothing later', async () => {
    using folder = makeFolder();
    const { host, clock } = hostIn(folder.path);
    const path = join(folder.path, 'data', 'lock');
    folder.write('data/lock', '');
    utimesSync(path, clock.now() / 1_000, clock.now() / 1_000);
    const before = clock.pending;
    const started = host.start('token').then(
      () => 'started',
      (error: Error) => error.message,
    );
    while (clock.pending === before) await setImmediate();
    await host.stop();
    expect(await Promise.race([started, setImmediate('waits')])).to.equal('The plugin "host" is stopping.');
    clock.advance(120_000);
    for (let turn = 0; turn < 20; turn += 1) await setImmediate();
    expect(host.monitoringUrl).to.equal(undefined);
    // For another process, the holder of this lock has been silent for years.
    const { code, err } = await cinnabar(['storage', 'check'], { cwd: folder.path, env: { CINNABAR_DATA: 'data' } });
    expect(code, err).to.equal(0);
  });

  it('at any other moment leaves neither the lock nor the monitoring behind', async () => {
    for (const turns of [0, 1, 2, 3, 5, 8, 13, 21, 28, 34, 41, 67, 75, 106, 121]) {
      using folder = makeFolder();
      const { host, clock } = hostIn(folder.path);
      const path = join(folder.path, 'data', 'lock');
      const started = host.start('token').catch(() => undefined);
      while (!existsSync(path)) await setImmediate();
      for (let turn = 0; turn < turns; turn += 1) await setImmediate();
      await Promise.all([host.stop(), started]);
      expect(host.monitoringUrl, `after ${turns} turns`).to.equal(undefined);
      expect(existsSync(path), `after ${turns} turns`).to.equal(false);
      expect(clock.pending, `after ${turns} turns`).to.equal(0);
    }
  });
});
