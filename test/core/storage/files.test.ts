import { mkdtemp, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createFiles, type FilePlaces } from '@cinnabar/core/internal/storage/files';
import { CinnabarError } from '@cinnabar/sdk';
import { expect } from 'chai';

describe('a folder for files of a plugin', () => {
  let dataDir: string;
  let places: FilePlaces;
  beforeEach(async () => {
    dataDir = await mkdtemp(join(tmpdir(), 'cinnabar-files-'));
    places = { dataDir, cacheDir: join(dataDir, 'elsewhere') };
  });
  afterEach(() => rm(dataDir, { recursive: true }));

  it('is below the data, made when it is asked for, and for nobody else on the machine', async () => {
    const folder = await createFiles(places).folder('tools');
    expect(folder).to.equal(join(dataDir, 'tools'));
    const { mode } = await stat(folder);
    if (process.platform !== 'win32') expect(mode & 0o777).to.equal(0o700);
    expect(await createFiles(places).folder('tools')).to.equal(folder);
  });

  it('is below the caches for what can be fetched again', async () => {
    expect(await createFiles(places).cacheFolder('images')).to.equal(join(dataDir, 'elsewhere', 'images'));
    const error = await createFiles(places)
      .cacheFolder('plugins')
      .catch((thrown: unknown) => thrown);
    expect(error).to.have.property('code', 'CINNABAR_NAME_INVALID');
  });

  for (const name of ['documents', 'logs', '..', 'a/b', '', 'Tools', 'x'.repeat(33)]) {
    it(`is not called ${JSON.stringify(name)}`, async () => {
      const error = await createFiles(places)
        .folder(name)
        .catch((thrown: unknown) => thrown);
      expect(error).to.be.instanceOf(CinnabarError).with.property('code', 'CINNABAR_NAME_INVALID');
    });
  }
});
