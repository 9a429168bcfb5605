import { type SpawnSyncOptions, spawnSync } from 'node:child_process';
import { existsSync, readFileSync, statSync } from 'node:fs';
import { join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import {
  areFoldersSame,
  BUNDLE_DIR,
  type Built,
  findBuilt,
  markOf,
  WATCHED,
  WORKSPACE,
} from '@cinnabar/core/internal/bundling/built';
import { inspectFolder } from '@cinnabar/core/internal/plugins/discovery';
import { readDeclaration } from '@cinnabar/core/internal/plugins/install/declaration';
import { expect } from 'chai';
import { makeFolder } from '../../support/folder.js';
import { pluginFiles } from '../../support/plugin-package.js';

const RUN_HOST = import.meta.resolve('@cinnabar/core/internal/bundling/run-host');
const BUILT = import.meta.resolve('@cinnabar/core/internal/bundling/built');
const BUILD_HOST = import.meta.resolve('@cinnabar/core/internal/cli/build-host');

/** `npm test` builds the bundle; running the compiler by hand makes it out of date. */
function builtHost(): Built {
  if (findBuilt() === undefined) spawnSync(process.execPath, [fileURLToPath(BUILD_HOST)], { stdio: 'inherit' });
  const built = findBuilt();
  if (built === undefined) throw new Error('the host’s bundle cannot be built');
  return built;
}

/** Runs the host's bundle in a separate process, then a script in which `require` is that of a plugin. */
function runBundle(args: readonly string[], script: string, given: Pick<SpawnSyncOptions, 'input' | 'env'> = {}) {
  const code = `
import { createRequire } from 'node:module';
const { BUNDLE_DIR } = await import(${JSON.stringify(BUILT)});
const { openHostBundle } = await import(${JSON.stringify(RUN_HOST)});
const onUnusable = (error) => { throw error; };
const host = openHostBundle(BUNDLE_DIR, { runsBot: true, onUnusable });
const require = createRequire(${JSON.stringify(join(WORKSPACE, 'plugins', 'chat', 'src', 'index.ts'))});
${script}
await host.runCommandLine(${JSON.stringify(args)});`;
  const { stdout, stderr, status } = spawnSync(process.execPath, ['--input-type=module', '-e', code], {
    ...given,
    encoding: 'utf8',
  });
  return { stdout, stderr, status };
}

/** Prints names that `import` finds in discord.js; this is its first import. */
const IMPORTED = `
const { pathToFileURL } = await import('node:url');
const names = await import(pathToFileURL(require.resolve('discord.js')));
console.log(Object.keys(require('discord.js')).every((name) => name in names));`;
const ITS_CLASSES = `
const { Client, DiscordAPIError } = require('discord.js');
const rest = require('@discordjs/rest');
console.log(typeof Client, rest.DiscordAPIError === DiscordAPIError, Object.keys(require.cache).length > 100);`;
const RENAMED = `
const classes = Object.entries(require('discord.js')).filter(([, value]) => /^class\\b/.test(String(value)));
const renamed = classes.filter(([name, { name: own }]) => own !== name).map(([name, { name: own }]) => name + ' is ' + own);
console.log(JSON.stringify(renamed));`;

describe('the host’s bundle', () => {
  let built: Built;
  /** All tests without a bot share one process. */
  let refused: ReturnType<typeof runBundle>;
  let printed: readonly string[];
  before(() => {
    built = builtHost();
    const scripts = [IMPORTED, ITS_CLASSES, RENAMED].map((script) => `{${script}\n}`);
    refused = runBundle(['start', '--nonsense'], scripts.join('\n'));
    printed = refused.stdout.split('\n');
  });

  it('says what is wrong at the start as the host’s own files do', () => {
    const { stderr, status } = refused;
    expect(stderr).to.match(/^cinnabar: Unknown option '--nonsense'\.\n$/);
    expect(status).to.equal(1);
  });

  it('opens the local Discord, which finds the files of its page', () => {
    using folder = makeFolder({});
    const { stdout, stderr, status } = runBundle(['console'], 'process.chdir(process.env.CINNABAR_DATA);', {
      input: '!language\nexit\n',
      env: { ...process.env, CINNABAR_DATA: folder.path },
    });
    expect([stderr, status]).to.deep.equal(['', 0]);
    expect(stdout).to.match(/^m1 you: !language\nm2 Cinnabar: /);
  });

  it('runs where plugins declare what they need, with the few rights of that process', async () => {
    const imports = `import { createRequire } from 'node:module';
const loaded = Object.values(createRequire(import.meta.url).cache).map((one) => one?.constructor.name);`;
    const manifest = "description: loaded.includes('LoadedModule') ? 'bundled' : 'its own files'";
    using folder = makeFolder(pluginFiles({ id: 'curious', imports, manifest }));
    const places = { cacheDir: join(folder.path, 'build'), buildCacheDir: folder.path };
    const { description } = await readDeclaration(inspectFolder(folder.path, 'package'), places);
    expect(description).to.equal('bundled');
  });

  it('is the only copy of its packages: importers of discord.js get the classes of the host', () => {
    expect(printed[1]).to.equal('function true true');
  });

  it('gives ES modules every name of a package in it, also those that the package exports again', () => {
    expect(printed[0]).to.equal('true');
  });

  it('leaves classes their names: discord.js bounds its caches by them', () => {
    const outside = spawnSync(process.execPath, [
      '-e',
      `const { createRequire } = require('node:module');
const require2 = createRequire(${JSON.stringify(join(WORKSPACE, 'core', 'package.json'))});
${RENAMED.replace("require('discord.js')", "require2('discord.js')")}`,
    ]);
    expect(printed.slice(2)).to.deep.equal(String(outside.stdout).split('\n'));
  });

  it('takes a byte a character in memory, where V8 would need two for one character beyond Latin-1', () => {
    expect(/[^\0-\xff]/.exec(readFileSync(join(BUNDLE_DIR, built.script), 'utf8'))?.[0]).to.equal(undefined);
  });

  it('holds every bundled plugin, and is out of date as soon as the compiler or npm changes something', () => {
    for (const file of [built.script, ...Object.values(built.plugins)])
      expect(existsSync(join(BUNDLE_DIR, file)), file).to.equal(true);
    expect(Object.keys(built.plugins)).to.include('plugins/chat/src/index.ts');
    expect(built.marks).to.deep.equal(WATCHED.map(markOf));
  });

  it('is out of date when a file of the sources is added, removed or replaced', () => {
    using folder = makeFolder({ 'a.ts': '' });
    const mtimeMs = Math.floor(statSync(folder.path).mtimeMs);
    const path = relative(WORKSPACE, folder.path);
    const isSame = (...folders: Built['folders']) => areFoldersSame({ folders });
    expect(isSame([path, mtimeMs])).to.equal(true);
    expect(isSame([path, mtimeMs - 1])).to.equal(false);
    expect(isSame([join(path, 'gone'), mtimeMs])).to.equal(false);
  });
});
