import { once } from 'node:events';
import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { startLocalRegistry } from '../../support/local-registry.js';
import { openPackageHost } from '../../support/package-host.js';
import { pluginTarball } from '../../support/plugin-package.js';
import { packFiles } from '../../support/tarball.js';

/** A server without packages that records the credentials of each request. */
async function openRecordingServer() {
  const credentials: (readonly [path: string | undefined, authorization: string | undefined])[] = [];
  const server = createServer(({ url, headers }, response) => {
    credentials.push([url, headers.authorization]);
    response.writeHead(404).end();
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    credentials,
    address: `127.0.0.1:${port}`,
    async [Symbol.asyncDispose]() {
      server.close();
      server.closeAllConnections();
      await once(server, 'close');
    },
  };
}

describe('the .npmrc of the bot’s folder', () => {
  let root: string;

  beforeEach(async () => {
    root = await mkdtemp(join(tmpdir(), 'cinnabar-npmrc-'));
  });
  afterEach(() => rm(root, { recursive: true, force: true }));

  it('gives its credentials to the very registry that they are for, the nearest first', async () => {
    await using mine = await openRecordingServer();
    await using basic = await openRecordingServer();
    await using other = await openRecordingServer();
    const lines = [
      `//${mine.address}:_authToken=whole`,
      `//${mine.address}/team/:_authToken="$${'{TEAM_TOKEN}'}"`,
      `//${basic.address}/:_auth=anVkeTpzZWNyZXQ=`,
      // The address of the other server begins like this.
      `//${other.address.slice(0, -1)}:_authToken=shorter`,
    ];
    await writeFile(join(root, '.npmrc'), lines.join('\n'));
    await using host = await openPackageHost({ root, registry: `http://${mine.address}`, env: { TEAM_TOKEN: 'team' } });
    for (const address of [
      ...['dice.tgz', 'team/dice.tgz', 'teams/dice.tgz'].map((path) => `${mine.address}/${path}`),
      `${basic.address}/dice.tgz`,
      `${other.address}/dice.tgz`,
    ])
      await host.packages.prepare(`http://${address}`).catch(() => undefined);
    expect(mine.credentials).to.deep.equal([
      ['/dice.tgz', 'Bearer whole'],
      ['/team/dice.tgz', 'Bearer team'],
      ['/teams/dice.tgz', 'Bearer whole'],
    ]);
    expect(basic.credentials).to.deep.equal([['/dice.tgz', 'Basic anVkeTpzZWNyZXQ=']]);
    expect(other.credentials).to.deep.equal([['/dice.tgz', undefined]]);
  });

  it('names the registries of dependencies, too, and is not left behind', async () => {
    await using usual = await startLocalRegistry();
    await using corporate = await startLocalRegistry();
    corporate.add(packFiles({ 'package.json': { name: '@corp/sides', version: '1.0.0' }, 'index.js': '' }));
    usual.add(pluginTarball({ id: 'dice', packageFile: { dependencies: { '@corp/sides': '^1.0.0' } } }));
    await writeFile(join(root, '.npmrc'), `@corp:registry=${corporate.url}\n`);
    await using host = await openPackageHost({ root, registry: usual.url });
    await (await host.packages.prepare('cinnabar-plugin-dice')).install();
    const files = await readdir(join(root, 'data', 'plugins'), { recursive: true });
    const below = join('node_modules', '@corp', 'sides');
    const installed = files.filter((path) => path.includes(below)).map((path) => path.slice(path.indexOf(below)));
    expect(installed).to.have.members([below, join(below, 'package.json'), join(below, 'index.js')]);
    expect(files.filter((path) => path.endsWith('.npmrc'))).to.deep.equal([]);
  });
});
