import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { mkdir, mkdtemp, readdir, rm, symlink, writeFile } from 'node:fs/promises';
import { createServer, type RequestListener } from 'node:http';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import type { PluginPackages } from '@cinnabar/sdk';
import { expect } from 'chai';
import { type LocalRegistry, startLocalRegistry } from '../support/local-registry.js';
import { openPackageHost } from '../support/package-host.js';
import { pluginFiles, pluginTarball } from '../support/plugin-package.js';
import { packEntries, packFiles, type TarEntry } from '../support/tarball.js';

const MEGABYTES = 2;
/** A registry file. */
const LIST = 'list.json';

describe('security: hostile packages', () => {
  let registry: LocalRegistry;
  let root: string;
  let host: Awaited<ReturnType<typeof openPackageHost>>;
  let packages: PluginPackages;

  before(async () => {
    registry = await startLocalRegistry();
    root = await mkdtemp(join(tmpdir(), 'cinnabar-hostile-'));
    await list();
    host = await openPackageHost({ root, registry: registry.url, registries: [LIST], megabytes: MEGABYTES });
    packages = host.packages;
  });
  after(async () => {
    await host[Symbol.asyncDispose]();
    await registry[Symbol.asyncDispose]();
    await rm(root, { recursive: true, force: true });
  });

  /** Puts these into the registry file. */
  const list = (...plugins: readonly object[]) =>
    writeFile(join(root, LIST), JSON.stringify({ format: 1, name: 'A list', plugins }));

  /** The reason of the refusal, after which no file of the package is left. */
  const refusal = async (spec: string): Promise<string> => {
    const before = await readdir(join(root, 'data'), { recursive: true }).catch(() => []);
    const reason = await packages.prepare(spec).then(
      () => 'it was not refused',
      (error: unknown) => (error instanceof Error ? error.message : String(error)),
    );
    expect(
      (await readdir(join(root, 'data'), { recursive: true }).catch(() => [])).filter(
        (path) => !/^plugins(?:\/\.work)?$/.test(path),
      ),
    ).to.deep.equal(before.filter((path) => !/^plugins(?:\/\.work)?$/.test(path)));
    return reason;
  };
  const tarball = async (content: Uint8Array, name = 'hostile.tgz'): Promise<string> => {
    await writeFile(join(root, name), content);
    return `./${name}`;
  };
  const honest = (): TarEntry[] =>
    Object.entries(pluginFiles({ id: 'dice' })).map(([path, content]) => ({ path: `package/${path}`, content }));

  it('have no rights where what they declare is read', async () => {
    await writeFile(join(root, 'secret'), 'secret');
    let asked = 0;
    await using server = await serve((_, response) => {
      asked += 1;
      response.end();
    });
    const imports = `import { readFileSync, writeFileSync } from 'node:fs';
import { spawnSync } from 'node:child_process';
import { createSocket } from 'node:dgram';
import { lookup } from 'node:dns';
import { createRequire } from 'node:module';
import { connect, createServer } from 'node:net';
const { interceptors } = createRequire(process.argv[1])('undici');
fetch('http://127.0.0.1:${server.port}/').catch(() => undefined);
const attempt = (act) => { try { return String(act()); } catch (error) { return error.code; } };
const tried = [
  attempt(() => readFileSync('/etc/passwd')),
  attempt(() => readFileSync(${JSON.stringify(join(root, 'secret'))})),
  attempt(() => writeFileSync(${JSON.stringify(join(root, 'written'))}, '')),
  attempt(() => spawnSync('true').status),
  attempt(() => connect(${server.port}, '127.0.0.1')),
  attempt(() => createServer().listen(0)),
  attempt(() => createSocket('udp4')),
  attempt(() => lookup('localhost', () => undefined)),
  attempt(() => interceptors.dns()(() => true)({ origin: 'http://localhost', path: '/', method: 'GET' }, {})),
  Object.keys(process.env).join(),
].join(' ');`;
    registry.add(pluginTarball({ id: 'curious', imports, manifest: 'description: tried' }));
    const { offer } = await packages.prepare('cinnabar-plugin-curious');
    expect(offer.declared.description.trim()).to.equal(Array(9).fill('ERR_ACCESS_DENIED').join(' '));
    expect(asked).to.equal(0);
  });

  it('have install scripts that do not run, which is said', async () => {
    registry.add(
      packFiles({
        'package.json': { name: 'native', version: '1.0.0', scripts: { install: 'exit 1' } },
        'index.js': '',
      }),
    );
    const ran = join(root, 'ran');
    const scripts = { preinstall: `touch ${ran}`, postinstall: `touch ${ran}`, prepare: `touch ${ran}` };
    registry.add(
      pluginTarball({
        id: 'scripted',
        packageFile: { scripts, dependencies: { native: '1.0.0' } },
      }),
    );
    const prepared = await packages.prepare('cinnabar-plugin-scripted');
    await prepared.install();
    expect(await readdir(root)).not.to.include('ran');
    expect(prepared.offer.notes).to.deep.equal([
      'It has install scripts, which do not run: preinstall, postinstall, prepare.',
      'These dependencies have install scripts, which do not run, and may not work without: native.',
    ]);
    await packages.remove('scripted', { withData: false });
  });

  const HOSTILE: readonly (readonly [what: string, entry: TarEntry, reason: RegExp])[] = [
    [
      'a path that leads out',
      { path: 'package/../../../escaped' },
      /has a path that leads out of it: package\/\.\.\/\.\.\/\.\.\/escaped/,
    ],
    ['an absolute path', { path: '/tmp/escaped' }, /has a path that leads out of it: \/tmp\/escaped/],
    ['a drive', { path: 'C:/escaped' }, /has a path that leads out of it: C:\/escaped/],
    ['backslashes', { path: 'package/..\\..\\escaped' }, /leads out of it/],
    [
      'a symbolic link',
      { path: 'package/link', type: 'SymbolicLink', linkpath: '/etc' },
      /has a link, package\/link to \/etc/,
    ],
    ['a hard link', { path: 'package/link', type: 'Link', linkpath: 'package/package.json' }, /has a link/],
    ['a device', { path: 'package/null', type: 'CharacterDevice' }, /has something that is no file/],
    ['a stream of Windows', { path: 'package/src/index.ts:more' }, /has a path that no file may have/],
    ['a file twice, for a system that drops dots', { path: 'package/src/index.ts.' }, /twice/],
    ['a file twice, for a system that folds letters', { path: 'package/\u017frc/index.ts' }, /twice/],
    ['a file twice, for a system that drops what is not seen', { path: 'package/s\u200crc/index.ts' }, /twice/],
    ['a file twice', { path: 'package/SRC/index.ts' }, /has the file package\/SRC\/index\.ts twice/],
  ];
  for (const [what, entry, reason] of HOSTILE) {
    it(`are refused for ${what} in the tarball`, async () => {
      expect(await refusal(await tarball(packEntries([...honest(), entry])))).to.match(reason);
      expect(await readdir(dirname(root))).not.to.include('escaped');
    });
  }

  it('are refused as dependencies for the same things', async () => {
    const link: TarEntry = { path: 'package/link', type: 'SymbolicLink', linkpath: '/etc' };
    const file = { path: 'package/package.json', content: '{"name":"linked","version":"1.0.0"}' };
    registry.add(packEntries([file, link]));
    registry.add(pluginTarball({ id: 'dice', packageFile: { dependencies: { linked: '1.0.0' } } }));
    expect(await refusal('cinnabar-plugin-dice')).to.match(/linked@1\.0\.0 has a link/);
  });

  it('are refused for a dependency that is not there, or comes from elsewhere', async () => {
    registry.add(pluginTarball({ id: 'dice', packageFile: { dependencies: { nowhere: '^1.0.0' } } }));
    expect(await refusal('cinnabar-plugin-dice')).to.match(
      /^The dependencies of cinnabar-plugin-dice cannot be had: .*404.*nowhere/,
    );
    for (const place of ['git+https://example.org/x.git', 'file:../../..', 'https://example.org/x.tgz', 'someone/x']) {
      registry.add(pluginTarball({ id: 'dice', packageFile: { dependencies: { x: place } } }));
      expect(await refusal('cinnabar-plugin-dice')).to.equal(
        `cinnabar-plugin-dice depends on x from ${place}: only dependencies from the npm registry are installed.`,
      );
    }
    registry.add(pluginTarball({ id: 'dice', imports: "import 'not-declared-anywhere';" }));
    expect(await refusal('cinnabar-plugin-dice')).to.match(/not-declared-anywhere/);
  });

  it('are refused for their size, while they are read', async () => {
    const bomb = packEntries([...honest(), { path: 'package/zeros', content: new Uint8Array(20_000_000) }]);
    expect(bomb.length).to.be.below(100_000);
    expect(await refusal(await tarball(bomb))).to.match(/hostile\.tgz is larger than 2 MB/);
    // A header with a false size, in an endless stream.
    let sent = 0;
    await using server = await serve((_, response) => {
      const more = (): void => {
        if (response.destroyed) return;
        sent += 64_000;
        if (response.write(new Uint8Array(64_000))) setImmediate(more);
        else response.once('drain', more);
      };
      response.writeHead(200);
      more();
    });
    expect(await refusal(`http://127.0.0.1:${server.port}/endless.tgz`)).to.match(
      /^127\.0\.0\.1:\d+ is larger than 2 MB/,
    );
    expect(sent).to.be.below(50_000_000);
  });

  it('are refused for an id that is not theirs', async () => {
    registry.add(pluginTarball({ id: 'party', name: 'my-party' }));
    expect(await refusal('my-party')).to.equal(
      'my-party says that it is party, which comes with the host: no other plugin gets that id.',
    );
    registry.add(pluginTarball({ id: 'weather', name: 'cinnabar-plugin-dice' }));
    expect(await refusal('cinnabar-plugin-dice')).to.equal(
      'cinnabar-plugin-dice should be the plugin dice, and its manifest says that it is weather.',
    );
    registry.add(pluginTarball({ id: 'weather' }), { as: 'something-else' });
    expect(await refusal('something-else')).to.match(/says in its package\.json that it is cinnabar-plugin-weather/);
  });

  it('are refused where they are for another Node or another host', async () => {
    registry.add(pluginTarball({ id: 'dice', packageFile: { engines: { node: '>=99' } } }));
    expect(await refusal('cinnabar-plugin-dice')).to.match(/^cinnabar-plugin-dice needs Node >=99, and this is \d/);
    registry.add(pluginTarball({ id: 'dice', packageFile: { peerDependencies: { '@cinnabar/sdk': '^9.0.0' } } }));
    expect(await refusal('cinnabar-plugin-dice')).to.match(/needs Cinnabar \^9\.0\.0, and this is /);
    registry.add(pluginTarball({ id: 'dice', manifest: "host: '^9.0.0'" }));
    expect(await refusal('cinnabar-plugin-dice')).to.match(/"dice" needs host \^9\.0\.0, but this is /);
  });

  it('are refused where their entry or what it imports lies outside of their folder', async () => {
    registry.add(pluginTarball({ id: 'dice', packageFile: { main: '../../../outside.ts' } }));
    await mkdir(join(root, 'data', 'plugins', '.work'), { recursive: true });
    await writeFile(join(root, 'data', 'outside.ts'), 'export default {};');
    expect(await refusal('cinnabar-plugin-dice')).to.match(/cannot be used: its (?:entry file|package\.json names)/);
    registry.add(
      pluginTarball({ id: 'dice', imports: "import secret from '../../../../../outside.ts';\nvoid secret;" }),
    );
    expect(await refusal('cinnabar-plugin-dice')).to.match(/imports .*outside\.ts, which is outside of its folder/);
    await rm(join(root, 'data', 'outside.ts'));
  });

  it('are refused where the content is another than before, or than was said, under the same version', async () => {
    registry.add(pluginTarball({ id: 'dice' }));
    const first = await packages.prepare('cinnabar-plugin-dice@1.0.0');
    await first.install();
    registry.add(pluginTarball({ id: 'dice', files: { 'more.txt': 'another' } }));
    expect(await refusal('cinnabar-plugin-dice@1.0.0')).to.match(/its content has changed under the same version/);
    await packages.remove('dice', { withData: false });
    expect(await refusal('cinnabar-plugin-dice@1.0.0')).to.match(/its content has changed under the same version/);
    registry.add(pluginTarball({ id: 'dice', version: '1.0.1' }), { integrity: first.offer.integrity });
    expect(await refusal('cinnabar-plugin-dice')).to.match(
      /^cinnabar-plugin-dice@1\.0\.1 is not what its integrity says/,
    );
  });

  it('are refused where they bring their own SDK', async () => {
    registry.add(
      pluginTarball({ id: 'dice', version: '2.0.0', packageFile: { dependencies: { '@cinnabar/sdk': '*' } } }),
    );
    const reason =
      'cinnabar-plugin-dice brings its own @cinnabar/sdk: a plugin uses that of the host. It belongs into its peerDependencies.';
    expect(await refusal('cinnabar-plugin-dice')).to.equal(reason);
    const files = { 'node_modules/@cinnabar/sdk/package.json': '{"name":"@cinnabar/sdk","version":"0.1.0"}' };
    registry.add(pluginTarball({ id: 'dice', version: '2.0.0', files }));
    expect(await refusal('cinnabar-plugin-dice')).to.equal(reason);
  });

  it('are refused where a dependency brings an SDK, or a folder does by another way of writing it', async () => {
    const files = { 'Node_Modules/@Cinnabar/sdk/package.json': '{"name":"@cinnabar/sdk","version":"0.1.0"}' };
    registry.add(pluginTarball({ id: 'dice', version: '2.0.0', files }));
    expect(await refusal('cinnabar-plugin-dice')).to.match(/brings its own @cinnabar\/sdk/);
    registry.add(
      packFiles({
        'package.json': {
          name: 'bringer',
          version: '1.0.0',
        },
        'node_modules/@cinnabar/sdk/package.json': { name: '@cinnabar/sdk', version: '0.1.0' },
      }),
    );
    registry.add(pluginTarball({ id: 'dice', version: '2.0.0', packageFile: { dependencies: { bringer: '1.0.0' } } }));
    expect(await refusal('cinnabar-plugin-dice')).to.match(/brings its own @cinnabar\/sdk/);
  });

  it('have nothing fetched from elsewhere for a dependency of a dependency', async () => {
    const asked: (string | undefined)[] = [];
    await using server = await serve(({ url }, response) => {
      asked.push(url);
      response.writeHead(404).end();
    });
    const place = `git+http://127.0.0.1:${server.port}/x.git`;
    registry.add(packFiles({ 'package.json': { name: 'middle', version: '1.0.0', dependencies: { x: place } } }));
    registry.add(pluginTarball({ id: 'dice', version: '2.0.0', packageFile: { dependencies: { middle: '1.0.0' } } }));
    expect(await refusal('cinnabar-plugin-dice')).to.match(/^The dependencies of cinnabar-plugin-dice cannot be had: /);
    expect(asked).to.deep.equal([]);
  });

  it('are refused where the server that was named leads on to another one of this network', async () => {
    const { tarball: inside } = registry.add(pluginTarball({ id: 'dice', version: '2.0.0' }));
    await using server = await serve((_, response) => response.writeHead(302, { location: inside }).end());
    expect(await refusal(`http://127.0.0.1:${server.port}/dice.tgz`)).to.match(/only https is/);
  });

  it('are refused under a name that the host has for itself', async () => {
    for (const id of ['plugins', 'documents', 'config']) {
      registry.add(pluginTarball({ id, name: `my-${id}` }));
      expect(await refusal(`my-${id}`)).to.equal(
        `my-${id} says that it is ${id}, which is a name of the host itself: no plugin gets that id.`,
      );
    }
    const named = await packages.pin('constructor', true).catch((error: unknown) => String(error));
    expect(named).to.match(/constructor is not a plugin that was installed/);
    expect(await packages.list()).to.deep.equal([]);
  });

  it('are refused from a repository whose address has a password, which would be written down', async () => {
    expect(await refusal('git+https://judy:secret@example.org/dice.git')).to.equal(
      'Addresses with a user name or password are not fetched.',
    );
  });

  it('are refused as a folder with a link', async () => {
    const folder = join(root, 'linked');
    for (const [path, content] of Object.entries(pluginFiles({ id: 'dice' }))) {
      await mkdir(dirname(join(folder, path)), { recursive: true });
      await writeFile(join(folder, path), content);
    }
    await symlink('/etc', join(folder, 'etc'));
    expect(await refusal('./linked')).to.match(/has a link or something else that is no file/);
  });

  it('do not become the next version of a plugin of their name that a registry file has listed', async () => {
    const content = pluginTarball({ id: 'cards', name: 'cards' });
    const integrity = `sha512-${createHash('sha512').update(content).digest('base64')}`;
    const versions = [{ version: '1.0.0', spec: await tarball(content, 'cards.tgz'), integrity }];
    await list({ id: 'cards', description: 'Cards', versions });
    await (await packages.prepare('cards')).install();
    await list();
    registry.add(pluginTarball({ id: 'cards', name: 'cards', version: '9.0.0' }));
    const update = await packages.prepareUpdate('cards').catch((error: unknown) => String(error));
    expect(update).to.match(/cards was listed by list\.json, and no registry file lists it any more/);
    await packages.remove('cards', { withData: false });
  });

  it('reach no address of this network by way of a registry file', async () => {
    const integrity = `sha512-${'A'.repeat(86)}==`;
    const listDice = (spec: string) =>
      list({ id: 'dice', description: 'Dice', versions: [{ version: '1.0.0', spec, integrity }] });
    for (const [spec, reason] of [
      ['http://127.0.0.1:1/dice.tgz', /only https is/],
      ['https://127.0.0.1:1/dice.tgz', /is not a public address/],
      ['https://localhost:1/dice.tgz', /is not a public address/],
      ['git+file:///etc', /neither an npm package nor the address of a tarball/],
      ['/etc/dice.tgz', /neither an npm package nor the address of a tarball/],
    ] as const) {
      await listDice(spec);
      expect(await refusal('dice'), spec).to.match(reason);
    }
    registry.add(pluginTarball({ id: 'dice' }));
    await listDice('cinnabar-plugin-dice@1.0.0');
    expect(await refusal('dice')).to.match(/is not what its integrity says/);
  });
});

async function serve(listener: RequestListener): Promise<AsyncDisposable & { readonly port: number }> {
  const server = createServer(listener).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  return {
    port: typeof address === 'object' && address !== null ? address.port : 0,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}
