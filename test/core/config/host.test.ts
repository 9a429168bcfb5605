import { renameSync } from 'node:fs';
import { join } from 'node:path';
import { createTestHost } from '@cinnabar/core/testing';
import { Configuration, definePlugin, HostInfo, z } from '@cinnabar/sdk';
import { expect } from 'chai';
import { makeFolder } from '../../support/folder.js';

describe('the configuration files on the real host', () => {
  it('are a service for plugins, whose declared keys are known', async () => {
    using folder = makeFolder({ 'shared.yaml': 'city: Oslo\n', 'bots/claude.yaml': 'city: Bergen\ncty: Rome\n' });
    using data = makeFolder();
    const seen: unknown[] = [];
    const weather = definePlugin({
      manifest: { id: 'weather', version: '1.0.0', description: 'Weather' },
      inject: { configuration: Configuration },
      configuration: z.object({ city: z.string().optional() }),
      async setup({ services }) {
        for (const { values } of await services.configuration.layers(null)) seen.push(values.city);
      },
    });
    const options = { plugins: [weather], configDir: folder.path, botName: 'claude', dataDir: data.path };
    await using host = await createTestHost(options);
    expect(seen).to.deep.equal(['Oslo', 'Bergen']);
    const told = host.log.flatMap(({ message }) => message.match(/no plugin reads the key [^?]*\?/g) ?? []);
    expect(told).to.deep.equal(['no plugin reads the key "cty". Did you mean "city"?']);
  });
});

describe('the installation of a host', () => {
  it('is the same after a restart, and another for another folder that is later at the same path', async () => {
    using folder = makeFolder();
    const dataDir = join(folder.path, 'data');
    const installation = async () => {
      await using host = await createTestHost({ plugins: [], dataDir });
      return host.resolve(HostInfo).installation;
    };
    const first = await installation();
    expect(await installation()).to.equal(first);
    renameSync(dataDir, join(folder.path, 'of-another-container'));
    expect(await installation()).to.not.equal(first);
  });
});

describe('a second host on the same data', () => {
  it('is refused with the id of the process that has them', async () => {
    await using first = await createTestHost({ plugins: [] });
    const second = createTestHost({ plugins: [], dataDir: first.dataDir, world: first });
    const sentence = await second.then(
      () => 'it started',
      (error: Error) => error.message,
    );
    expect(sentence).to.include(`is in use by process ${process.pid}.`);
  });
});
