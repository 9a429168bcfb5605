/**
 * The first file that `npm start`, `npm test` and `npx cinnabar` run: plain JavaScript without dependencies. It installs missing packages, builds changed
 * sources, reports both on standard error, and starts the actual program.
 */
import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import * as nodeModule from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const at = (...parts) => join(root, ...parts);
/** npm writes both lock files at the same time, in either order. */
const SLACK_MS = 5_000;
const say = (text) => process.stderr.write(`cinnabar: ${text}\n`);

/** The parts that the host and its plugins need, without the tests. */
const HOST_TASKS = ['start', 'cinnabar'];
const HOST_SOURCES = ['sdk', 'core', 'plugins'];
const SOURCES = [...HOST_SOURCES, 'examples', 'test'];

const [task = 'start', ...rest] = process.argv.slice(2);

checkNode();
install('');
if (task === 'docs') {
  buildDocs();
  process.exit(0);
}
const isHost = HOST_TASKS.includes(task);
if (!(isHost && (await isBuilt()))) await build(isHost ? 'tsconfig.host.json' : 'tsconfig.json');
await run();

function checkNode() {
  const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);
  if ((major === 20 && minor >= 19) || (major === 22 && minor >= 12) || major > 22) return;
  say(`Node ${process.versions.node} is too old; Node 20.19, 22.12 or newer is needed (https://nodejs.org).`);
  process.exit(1);
}

/** Installs the packages when there are none, or the lock file is newer than they are. npm stores its own copy of the lock file with them. */
function install(folder) {
  const installedAt = modifiedAt(at(folder, 'node_modules', '.package-lock.json'));
  if (installedAt + SLACK_MS > modifiedAt(at(folder, 'package-lock.json'))) return;
  say(folder === '' ? 'installing packages …' : `installing packages of ${folder} …`);
  must('npm', ['ci', '--no-audit', '--no-fund', '--loglevel', 'error'], 'The packages could not be installed', folder);
}

/** Builds the book. Its tools are installed only here, so that starting the bot needs none of them. */
function buildDocs() {
  install('docs');
  const tool = (...path) => at('docs', 'node_modules', ...path);
  must(process.execPath, [tool('typedoc', 'bin', 'typedoc')], 'The types of the SDK could not be documented', 'docs');
  must(
    process.execPath,
    [tool('vitepress', 'bin', 'vitepress.js'), 'build', ...rest],
    'The book could not be built',
    'docs',
  );
  say('the book is in docs/.vitepress/dist.');
}

/** Whether the last build contains every current source. Folder times show deleted files, file times new and changed ones. */
async function isBuilt() {
  const { areFoldersSame, findBuilt } = await bundling();
  const built = findBuilt?.();
  return built !== undefined && areFoldersSame(built) && newerThan(built.at, HOST_SOURCES) === undefined;
}

/** Builds when a source is newer than the last build: first the compiler's output, then the bundles of the host and its plugins. */
async function build(project) {
  const stamp = at('node_modules', `.cinnabar-built-${project}`);
  const compiledAt = modifiedAt(stamp);
  const startedAt = new Date();
  const isCompiled = compiledAt > 0 && newerThan(compiledAt, SOURCES) === undefined;
  const bundler = at('core', 'dist', 'cli', 'build-host.js');
  if (isCompiled && (!existsSync(bundler) || (await isBuilt()))) return;
  say('building …');
  if (!isCompiled) {
    must(process.execPath, [at('node_modules', 'typescript', 'bin', 'tsc'), '-b', project], 'The build failed');
    writeFileSync(stamp, startedAt.toISOString());
    utimesSync(stamp, startedAt, startedAt);
  }
  if (existsSync(bundler))
    must(process.execPath, [bundler, String(startedAt.getTime())], 'The host could not be bundled');
}

/** `core/src/bundling/built.ts`, compiled. */
async function bundling() {
  const file = at('core', 'dist', 'bundling', 'built.js');
  return existsSync(file) ? import(pathToFileURL(file).href) : {};
}

/** 0 for a missing file. */
function modifiedAt(path) {
  return statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? 0;
}

/** The path from the root of a source that has changed since; `undefined` when there is none. */
function newerThan(since, folders) {
  for (const folder of folders) {
    for (const entry of readdirSync(at(folder), { withFileTypes: true })) {
      if (['node_modules', 'dist', 'fixtures', 'public'].includes(entry.name)) continue;
      const path = join(folder, entry.name);
      if (entry.isDirectory()) {
        const found = newerThan(since, [path]);
        if (found !== undefined) return found;
      } else if (/\.(tsx?|mjs|css|html|json)$/.test(entry.name) && statSync(at(path)).mtimeMs > since) return path;
    }
  }
  return undefined;
}

function must(command, args, complaint, folder = '') {
  // Standard output belongs to the bot, so the output of tools goes to standard error.
  const { status, error } = spawnSync(command, args, {
    cwd: at(folder),
    stdio: ['ignore', 2, 2],
    shell: process.platform === 'win32',
  });
  if (status === 0) return;
  say(`${complaint}${error ? `: ${error.message}` : ''}.`);
  process.exit(1);
}

async function run() {
  // Node 22 and later can cache compiled code between starts.
  nodeModule.enableCompileCache?.(at('node_modules', '.cache', 'cinnabar'));
  const modules = {
    start: ['core', 'dist', 'cli', 'main.js'],
    cinnabar: ['core', 'dist', 'cli', 'main.js'],
    test: ['test', 'dist', 'runner', 'test.js'],
    bench: ['test', 'dist', 'bench', 'main.js'],
    campaign: ['test', 'dist', 'campaign', 'main.js'],
    release: ['test', 'dist', 'release', 'main.js'],
    screenshots: ['test', 'dist', 'screenshots', 'main.js'],
  };
  if (task === 'build') return;
  const path = modules[task];
  if (path === undefined) {
    say(`there is no task "${task}": it is one of ${Object.keys(modules).join(', ')}, build, docs.`);
    process.exit(1);
  }
  // `!bot restart` runs this file again, so that changed sources are built (core/src/process/signals.ts).
  if (isHost) process.env.CINNABAR_LAUNCHER ??= JSON.stringify([fileURLToPath(import.meta.url), task, ...rest]);
  process.argv = [process.argv[0], at(...path), ...(task === 'start' ? ['start', ...rest] : rest)];
  await import(pathToFileURL(at(...path)).href);
}
