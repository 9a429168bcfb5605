import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, readdir, readFile, symlink } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { z } from '@cinnabar/sdk';
import { expect } from 'chai';
import { cinnabar, PROGRAM } from '../../support/cinnabar.js';
import { withoutStalls } from '../../support/stalls.js';
import { useFolder } from '../plugins/support/folder.js';

const BIN = resolve('node_modules', '.bin');

/** Without colours, which Mocha uses on some build servers. */
const PLAIN = { ...process.env, NO_COLOR: '1' };
const run = (cwd: string, command: string, ...args: readonly string[]) => {
  const { stdout, stderr, status } = spawnSync(command, args, { cwd, encoding: 'utf8', timeout: 60_000, env: PLAIN });
  return { out: stdout, err: stderr, status };
};
const make = (cwd: string, ...args: readonly string[]) => cinnabar(['new', ...args], { cwd });

const EXAMPLES = fileURLToPath(new URL('../../../../examples', import.meta.url));
const packageSchema = z.looseObject({
  scripts: z.record(z.string(), z.string()),
  devDependencies: z.record(z.string(), z.string()).default({}),
});
const packageIn = async (folder: string) =>
  packageSchema.parse(JSON.parse(await readFile(join(folder, 'package.json'), 'utf8')));

describe('cinnabar new', function () {
  this.timeout(60_000);
  const folder = useFolder();

  it('writes a plugin whose types hold and whose test passes as it stands', async () => {
    await symlink(resolve('node_modules'), folder.at('node_modules'));
    const made = await make(folder.at(), 'dice2', '--no-install');
    expect(made).to.deep.include({ err: '', code: 0 });
    expect(made.out).to.match(
      /^A plugin in dice2:\n {2}\.gitignore\n[\s\S]*\n {2}src\/index\.ts\n {2}test\/dice2\.test\.ts\n/,
    );
    expect(made.out).to.include('cd dice2\n').and.to.include('!dice2 world');
    for (const name of await readdir(folder.at('dice2'), { recursive: true, withFileTypes: true })) {
      if (!name.isFile()) continue;
      const text = await readFile(join(name.parentPath, name.name), 'utf8');
      expect(text, name.name).to.not.match(/my-plugin|0\.0\.0/);
    }

    expect(run(folder.at('dice2'), join(BIN, 'tsc'))).to.deep.equal({ out: '', err: '', status: 0 });
    const tested = run(folder.at('dice2'), join(BIN, 'mocha'));
    expect(tested.out).to.match(/✔ greets people[\s\S]*1 passing/);
    expect(tested.status).to.equal(0);
  });

  it('makes projects of the same shape as the examples', async () => {
    await make(folder.at(), 'sample', '--no-install');
    const made = await packageIn(folder.at('sample'));
    // In this repository `cinnabar` is the repository itself: the program comes from @cinnabar/core.
    const { cinnabar: _, ...needed } = made.devDependencies;
    for (const { name } of (await readdir(EXAMPLES, { withFileTypes: true })).filter((one) => one.isDirectory())) {
      const example = await packageIn(join(EXAMPLES, name));
      expect(example.devDependencies, name).to.deep.equal(needed);
      // The repository is compiled in one run, with project references.
      expect(example.scripts, name).to.deep.equal({ ...made.scripts, test: 'tsc -b && mocha' });
      for (const key of ['type', 'license', 'keywords', 'main', 'files', 'peerDependencies'])
        expect(example[key], `${name}: ${key}`).to.deep.equal(made[key]);
      for (const file of ['.gitignore', '.mocharc.json'])
        expect(await readFile(join(EXAMPLES, name, file), 'utf8'), `${name}: ${file}`).to.equal(
          await readFile(folder.at('sample', file), 'utf8'),
        );
      for (const file of ['README.md', 'src/index.ts', `test/${name}.test.ts`, 'tsconfig.json'])
        expect(existsSync(join(EXAMPLES, name, file)), `${name}: ${file}`).to.equal(true);
    }
  });

  it("writes a bot's project, and plugins into its folder for them, which it loads", async () => {
    expect((await make(folder.at(), 'night-bot', '--project', '--no-install')).out).to.include('npm start');
    const bot = folder.at('night-bot');
    expect(JSON.parse(await readFile(join(bot, 'package.json'), 'utf8'))).to.nested.include({ name: 'night-bot' });
    const made = await make(bot, 'poll', '--no-install');
    expect(made.out).to.include('A plugin in plugins/poll:').and.to.include('!plugin load poll');
    await symlink(resolve('node_modules'), join(bot, 'node_modules'));
    const played = spawnSync(process.execPath, [PROGRAM, 'console'], {
      cwd: bot,
      encoding: 'utf8',
      input: '!poll world\n',
      env: { ...process.env, DISCORD_TOKEN: '' },
    });
    expect(played.stdout).to.include('Cinnabar: Hello, world!');
    expect(withoutStalls(played.stderr)).to.equal('');
  });

  it('refuses names that cannot be used, and writes nothing', async () => {
    await folder.write({ 'full/notes.txt': 'mine', 'outer/package.json': { keywords: ['cinnabar-plugin'] } });
    await mkdir(folder.at('outer', 'src'));
    const refusals: readonly (readonly [cwd: string, args: readonly string[], sentence: RegExp])[] = [
      ['.', ['Dice'], /"Dice" cannot be the name of a plugin/],
      ['.', ['../../etc/Passwd'], /cannot be the name/],
      ['.', ['a'.repeat(33)], /up to 32 lower case letters/],
      ['.', ["x'; process.exit(1); '"], /cannot be the name/],
      ['.', ['..'], /cannot be the name/],
      ['.', ['chat'], /There is a plugin called chat already, which comes with the host/],
      ['.', ['full'], /full is there already and is not empty\. Nothing was changed\./],
      ['outer/src', ['inner'], /outer is a plugin's folder/],
    ];
    for (const [cwd, args, sentence] of refusals) {
      const { code, err } = await make(folder.at(cwd), ...args, '--no-install');
      expect(err, args.join(' ')).to.match(sentence);
      expect(code).to.equal(1);
    }
    expect((await make(folder.at())).err).to.equal('cinnabar: A name is missing: cinnabar new NAME.\n');
    expect((await readdir(folder.at())).sort()).to.deep.equal(['full', 'outer']);
    expect(await readdir(folder.at('outer', 'src'))).to.deep.equal([]);
  });
});
