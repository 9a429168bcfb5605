import { createHash } from 'node:crypto';
import { mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect } from 'chai';
import { cinnabar } from '../../support/cinnabar.js';
import { type Folder, lockByAnother, makeFolder } from '../../support/folder.js';
import { pluginFiles, pluginTarball } from '../../support/plugin-package.js';

describe('cinnabar plugin', function () {
  // Each test starts a plugin on a local Discord, in a separate process.
  this.timeout(90_000);
  let folder: Folder;

  before(() => {
    const tarball = pluginTarball({ id: 'cards' });
    const integrity = `sha512-${createHash('sha512').update(tarball).digest('base64')}`;
    const list = {
      format: 1,
      name: 'A list',
      plugins: [
        { id: 'cards', description: 'Cards for all', versions: [{ version: '1.0.0', spec: './cards.tgz', integrity }] },
      ],
    };
    folder = makeFolder({
      'package.json': '{"name":"a-bot","dependencies":{}}',
      'lists/list.json': JSON.stringify(list),
      'config/shared.yaml': 'host:\n  plugins:\n    registries: [lists/list.json]\n',
      'config/bots/other.yaml': '',
    });
    writeFileSync(join(folder.path, 'lists/cards.tgz'), tarball);
    for (const [path, content] of Object.entries(pluginFiles({ id: 'coin', packageFile: { scripts: {} } }))) {
      const file = join(folder.path, 'coin', path);
      mkdirSync(dirname(file), { recursive: true });
      writeFileSync(file, content);
    }
  });
  after(() => folder[Symbol.dispose]());

  /** Runs a command line; `typed` answers its questions. */
  const run = async (line: string, { typed = '', bot }: { typed?: string; bot?: string } = {}) => {
    const args = [...line.split(' '), ...(bot === undefined ? [] : ['--bot', bot])];
    return cinnabar(['plugin', ...args], { cwd: folder.path, typed });
  };

  it('adds a folder once it is agreed to, for one bot alone, and leaves the package.json of the bot as it is', async () => {
    const added = await run('add ./coin', { typed: 'y\n' });
    expect(added.code).to.equal(0);
    expect(added.screen).to.match(
      /\ncoin 1\.0\.0: Rolls dice\nFrom: .*coin\nAuthor: Judy\nLicence: MIT\nIntegrity: sha512-/,
    );
    expect(added.screen).to.match(/Install coin 1\.0\.0\? \[y\/N\] Installed coin 1\.0\.0\.\n$/);
    const listed = await run('list --verify');
    expect(listed).to.deep.include({ code: 0 });
    expect(listed.screen).to.match(/^coin 1\.0\.0 \(cinnabar-plugin-coin, from .*coin; sha512-.*; verified\)\n$/);
    expect((await run('list', { bot: 'other' })).screen).to.match(/^No plugins are installed/);
    expect(readdirSync(folder.path)).to.have.members(['package.json', 'lists', 'config', 'coin', 'data']);
  });

  it('leaves the version before in place when the new one does not start', async () => {
    const write = (options: Parameters<typeof pluginFiles>[0]) => {
      for (const [path, content] of Object.entries(pluginFiles(options))) folder.write(join('coin', path), content);
    };
    write({ id: 'coin', version: '1.1.0', setup: "if (context.log) throw new Error('broken on purpose');" });
    const failed = await run('update coin --yes');
    expect(failed.err).to.match(/cinnabar-plugin-coin was not updated to 1\.1\.0\. .*broken on purpose/);
    expect((await run('list --verify')).screen).to.match(/^coin 1\.0\.0 .*verified\)\n$/);

    write({ id: 'coin', version: '1.2.0' });
    expect((await run('update coin --yes')).screen).to.match(/Updated coin from 1\.0\.0 to 1\.2\.0\.\n$/);
  });

  it('changes nothing without a yes, and finds by id what a registry file lists', async () => {
    expect((await run('search all')).screen).to.equal('cards 1.0.0: Cards for all\n');
    expect((await run('search nothing')).screen).to.equal('Nothing was found.\n');
    const asked = await run('add cards', { typed: '\n' });
    expect(asked.code).to.equal(1);
    expect(asked.screen).to.match(/Nothing was changed\. Answer y, or say --yes\.\n$/);
    expect(JSON.parse((await run('list --json')).screen)).to.have.length(1);
  });

  it('pins and removes', async () => {
    expect((await run('pin coin')).screen).to.equal('coin stays at 1.2.0.\n');
    expect((await run('list')).screen).to.match(/; pinned\)\n$/);
    expect((await run('unpin coin')).screen).to.equal('coin 1.2.0 is updated again.\n');
    expect((await run('remove coin --yes')).screen).to.match(/^Removed coin\. Its settings and data stay/);
    expect((await run('list')).screen).to.match(/^No plugins are installed/);
  });

  it('changes nothing while the bot runs, and says what there is to say otherwise', async () => {
    const failure = async (line: string) => {
      const { code, err } = await run(line);
      expect(code).to.equal(1);
      return err;
    };
    {
      using _ = lockByAnother(join(folder.path, 'data'));
      expect(await failure('add ./coin --yes')).to.match(/is in use by/);
    }
    expect(await failure('add')).to.match(/^cinnabar: It is "plugin add SPEC"/);
    expect(await failure('nonsense')).to.match(/^cinnabar: It is "plugin add SPEC"/);
    expect(await failure('add ./nowhere')).to.match(/\ncinnabar: There is nothing at .*nowhere\.\n$/);
    expect(await failure('pin coin')).to.equal('cinnabar: coin is not a plugin that was installed.\n');
  });
});
