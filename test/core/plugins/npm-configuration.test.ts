import { mkdir, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { installDependencies } from '@cinnabar/core/internal/plugins/install/dependencies';
import { createDownloads } from '@cinnabar/core/internal/plugins/install/download';
import { createSizeLimit } from '@cinnabar/core/internal/plugins/install/files';
import { readNpmConfiguration } from '@cinnabar/core/internal/plugins/install/npm-registry';
import { readPackage } from '@cinnabar/core/internal/plugins/install/package-file';
import { expect } from 'chai';
import { startLocalRegistry } from '../../support/local-registry.js';
import { packFiles } from '../../support/tarball.js';

describe('the .npmrc of the bot’s folder', () => {
  let root: string;

  beforeEach(async () => {
    root = await mkdtemp(join(tmpdir(), 'cinnabar-npmrc-'));
  });
  afterEach(() => rm(root, { recursive: true, force: true }));

  it('gives its credentials to the very registry that they are for, the nearest first', async () => {
    const lines = [
      '//npm.example.org:_authToken=whole',
      `//npm.example.org/team/:_authToken="$${'{TEAM_TOKEN}'}"`,
      '//basic.example.org/:_auth=anVkeTpzZWNyZXQ=',
    ];
    await writeFile(join(root, '.npmrc'), lines.join('\n'));
    const { headersOf } = await readNpmConfiguration(root, { TEAM_TOKEN: 'team' });
    const given = (address: string) => headersOf(new URL(address)).authorization;
    expect(given('https://npm.example.org/dice')).to.equal('Bearer whole');
    expect(given('https://npm.example.org/team/dice')).to.equal('Bearer team');
    expect(given('https://npm.example.org/teams/dice')).to.equal('Bearer whole');
    expect(given('https://basic.example.org/dice')).to.equal('Basic anVkeTpzZWNyZXQ=');
    expect(given('https://npm.example.org.example.com/dice')).to.equal(undefined);
  });

  it('names the registries of dependencies, too, and is not left behind', async () => {
    await using usual = await startLocalRegistry();
    await using corporate = await startLocalRegistry();
    corporate.add(packFiles({ 'package.json': { name: '@corp/sides', version: '1.0.0' }, 'index.js': '' }));
    await writeFile(join(root, '.npmrc'), `@corp:registry=${corporate.url}\n`);
    const [folder, work] = [join(root, 'package'), join(root, 'work')];
    await mkdir(folder);
    const dice = { name: 'dice', version: '1.0.0', dependencies: { '@corp/sides': '^1.0.0' } };
    await writeFile(join(folder, 'package.json'), JSON.stringify(dice));
    const npm = await readNpmConfiguration(root, { npm_config_registry: usual.url });
    await installDependencies(folder, await readPackage(folder, 'dice'), {
      work,
      cacheDir: join(root, 'cache'),
      npm,
      downloads: createDownloads({ trusted: new Set(npm.origins), headersOf: npm.headersOf }),
      limit: createSizeLimit(1e6),
    });
    expect(await readdir(join(folder, 'node_modules', '@corp', 'sides'))).to.have.members(['package.json', 'index.js']);
    expect(await readdir(work, { recursive: true })).not.to.include(join('dependencies', '.npmrc'));
  });
});
