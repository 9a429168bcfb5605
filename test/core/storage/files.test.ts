import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import { createTestHost, type TestHost } from '@cinnabar/core/testing';
import { CinnabarError, Files } from '@cinnabar/sdk';
import { expect } from 'chai';

describe('a folder for files of a plugin', () => {
  let host: TestHost;
  before(async () => {
    host = await createTestHost({ plugins: [] });
  });
  after(() => host[Symbol.asyncDispose]());
  const files = () => host.resolve(Files);

  it('is below the data, created at the first request, and closed to other users of the machine', async () => {
    const folder = await files().folder('tools');
    expect(folder).to.equal(join(host.dataDir, 'tools'));
    const { mode } = await stat(folder);
    if (process.platform !== 'win32') expect(mode & 0o777).to.equal(0o700);
    expect(await files().folder('tools')).to.equal(folder);
  });

  it('is below the caches for what can be fetched again', async () => {
    expect(await files().cacheFolder('images')).to.equal(join(host.dataDir, 'cache', 'images'));
    const error = await files()
      .cacheFolder('plugins')
      .catch((thrown: unknown) => thrown);
    expect(error).to.have.property('code', 'CINNABAR_NAME_INVALID');
  });

  for (const name of ['documents', 'logs', '..', 'a/b', '', 'Tools', 'x'.repeat(33)]) {
    it(`is not called ${JSON.stringify(name)}`, async () => {
      const error = await files()
        .folder(name)
        .catch((thrown: unknown) => thrown);
      expect(error).to.be.instanceOf(CinnabarError).with.property('code', 'CINNABAR_NAME_INVALID');
    });
  }
});
