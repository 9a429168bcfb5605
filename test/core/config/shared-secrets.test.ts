import { createSystemClock } from '@cinnabar/core';
import { createSecrets, createSharedSecrets, encryptedSecret } from '@cinnabar/core/internal/config/secrets';
import { createPartition } from '@cinnabar/core/internal/gateway/partition';
import { createRedactor } from '@cinnabar/core/internal/observability/log-entry';
import { openDatabase } from '@cinnabar/core/internal/storage/drivers/postgres/database';
import { createStorage } from '@cinnabar/core/internal/storage/storage';
import { type OwnerAlert, type PluginInfo, z } from '@cinnabar/sdk';
import { expect } from 'chai';
import { recordingLogger } from '../../support/logs.js';
import { describePostgres, type TestDatabase, testDatabase } from '../../support/postgres.js';

const KEY = 'a random text of more than 32 characters';
const VALUE = 'sk-hunter2-hunter2';
const bank = { id: 'bank', env: z.object({ BANK_KEY: z.string().optional().meta({ secret: true }) }) };

/** The secrets of one group of a cluster, with the plugin `bank`. */
async function secretsOn(place: TestDatabase, group: number, key: string | undefined = KEY) {
  const log = recordingLogger();
  const database = openDatabase({ ...place, poolSize: 2, use: 'cluster', clock: createSystemClock(), log });
  const driver = database.driver({ partition: createPartition(group, 2) });
  await driver.open?.();
  const storage = createStorage({ driver, log });
  const documents = storage.collection('secrets', {
    scope: 'global',
    version: 1,
    schema: encryptedSecret,
    shared: true,
  });
  const loaded: (string | undefined)[] = [];
  const alerts: OwnerAlert[] = [];
  const info: PluginInfo = {
    ...{ id: 'bank', manifest: { id: 'bank', version: '1.0.0', description: 'Keeps money' }, state: 'failed' },
    ...{ source: 'bundled', path: '', env: [], provides: [], injects: [], effects: [] },
  };
  const plugins = {
    list: () => [info],
    reload: () => Promise.reject(new Error('it does not run')),
    async load() {
      loaded.push(secrets.environment().BANK_KEY);
      return info;
    },
  };
  const secrets = createSecrets({
    store: key === '' ? undefined : createSharedSecrets({ documents, key, onGap: storage.onGap }),
    env: {},
    declared: () => [bank],
    plugins: () => plugins,
    redactor: createRedactor([]),
    alert: (alert) => void alerts.push(alert),
    log,
  });
  await secrets.open();
  return {
    secrets,
    loaded,
    alerts,
    async [Symbol.asyncDispose]() {
      await driver.close();
      await database.close();
    },
  };
}

describePostgres('secrets of a cluster', () => {
  it('are stored encrypted for all its processes, which load their readers anew', async () => {
    await using place = await testDatabase();
    await using one = await secretsOn(place, 0);
    await using other = await secretsOn(place, 1);
    expect(await one.secrets.set('BANK_KEY', VALUE)).to.deep.equal([{ plugin: 'bank' }]);
    expect(one.loaded).to.deep.equal([VALUE]);
    while (other.loaded.length < 1) await new Promise(setImmediate);
    expect(other.loaded).to.deep.equal([VALUE]);
    await using later = await secretsOn(place, 1);
    expect(later.secrets.environment()).to.deep.equal({ BANK_KEY: VALUE });
    expect(later.secrets.list()).to.deep.equal([
      { name: 'BANK_KEY', description: '', plugins: ['bank'], source: 'stored' },
    ]);
    const rows = JSON.stringify(await place.query(`SELECT path, body::text FROM ${place.schema}.documents`));
    expect(rows).to.include('secrets/BANK_KEY').and.not.include('hunter2');

    await other.secrets.delete('BANK_KEY');
    while (one.loaded.length < 2) await new Promise(setImmediate);
    expect(one.secrets.environment()).to.deep.equal({});
  });

  it('cannot be read with another key, which is reported to the owner, or taken for another secret', async () => {
    await using place = await testDatabase();
    await using one = await secretsOn(place, 0);
    await one.secrets.set('BANK_KEY', VALUE);
    await using other = await secretsOn(place, 1, `another ${KEY}`);
    expect(other.secrets.environment()).to.deep.equal({});
    expect(other.alerts.map(({ text }) => (typeof text === 'string' ? text : text()))).to.deep.equal([
      'Stored secrets were encrypted with another CINNABAR_SECRET_KEY than that of this process.',
    ]);
    const table = `${place.schema}.documents`;
    await place.query(
      `INSERT INTO ${table} (path, body) SELECT replace(path, 'BANK_KEY', 'BANK_PIN'), body FROM ${table} WHERE path LIKE '%BANK_KEY'`,
    );
    await using third = await secretsOn(place, 0);
    expect(third.secrets.environment()).to.deep.equal({ BANK_KEY: VALUE });
  });

  it('are not stored without a key, and the refusal says what to do', async () => {
    await using place = await testDatabase();
    await using one = await secretsOn(place, 0, '');
    expect(await one.secrets.set('BANK_KEY', VALUE).catch(String)).to.match(
      /Set CINNABAR_SECRET_KEY to the same random text of at least 32 characters in the environment of each, or BANK_KEY itself/,
    );
  });
});
