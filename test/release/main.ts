/**
 * `npm run release -- VERSION [--dry-run]`: gives all packages one version, moves the heading of the changelog, packs, runs the campaign `stranger` on the
 * packed files, and prints the commands that publish them. It publishes nothing; with `--dry-run` it restores the tree.
 */
import { spawnSync } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { strangerCampaign } from '../campaign/stranger.js';
import { pack, publishedPackages, ROOT, readPackages, removeStaleOutput } from './packages.js';
import { changing } from './tree.js';
import { nextVersionProblem, withHeading, withHost, withVersion } from './versions.js';

const say = (line: string) => process.stdout.write(`${line}\n`);

async function main(): Promise<number> {
  const { values, positionals } = parseArgs({ allowPositionals: true, options: { 'dry-run': { type: 'boolean' } } });
  const [version = ''] = positionals;
  const isDry = values['dry-run'] === true;
  const { version: current } = JSON.parse(read('package.json'));
  const problem = problemOf(current, version, isDry);
  if (problem !== undefined) {
    process.stderr.write(`${problem}\n`);
    return 1;
  }
  const packages = await readPackages();
  const manifests = packages.map(({ folder }) => join(folder, 'package.json'));
  const plugins = packages
    .map(({ folder }) => join(folder, 'src', 'index.ts'))
    .filter((file) => /^(plugins|examples)/.test(file));
  const pages = readdirSync(join(ROOT, 'docs'), { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.md') && !file.includes('node_modules'))
    .map((file) => join('docs', file));
  const withRange = [...plugins, ...pages];
  const files = [...manifests, ...withRange, 'package-lock.json', 'CHANGELOG.md'];
  const release = async () => {
    const names = packages.map(({ manifest }) => manifest.name);
    const step = { current, next: version };
    for (const file of manifests) change(file, (text) => withVersion(text, names, step));
    for (const file of withRange) change(file, (text) => withHost(text, step));
    change('CHANGELOG.md', (text) => withHeading(text, version, new Date()));
    must('npm', ['install', '--package-lock-only', '--ignore-scripts', '--no-audit', '--no-fund']);
    build();
    const folder = join(ROOT, 'node_modules', '.cache', 'cinnabar-release', version);
    const tarballs = await packInto(folder);
    say('Trying them as a stranger, on each Node …');
    const { counts, violations } = await strangerCampaign({ seed: 1, rounds: 1, log: say });
    for (const [what, count] of Object.entries(counts)) say(`${what}: ${count}`);
    for (const violation of violations) say(`VIOLATION ${violation}`);
    if (violations.length > 0) throw new Error(`${violations.length} violations: this is not released.`);
    printCommands(version, tarballs);
  };
  try {
    await changing(ROOT, { files, keep: !isDry }, release);
    // Builds again with the restored version.
    if (isDry) build();
    return 0;
  } catch (error) {
    process.stderr.write(
      `${error instanceof Error ? error.message : String(error)}\nThe tree is as it was; what is built is not, until "npm run build".\n`,
    );
    return 1;
  }
}

const build = () => must(process.execPath, [join('core', 'bootstrap.mjs'), 'build']);
const read = (file: string) => readFileSync(join(ROOT, file), 'utf8');
const write = (file: string, text: string) => writeFileSync(join(ROOT, file), text);
const change = (file: string, by: (text: string) => string) => write(file, by(read(file)));

function problemOf(current: string, version: string, isDry: boolean): string | undefined {
  const problem = nextVersionProblem(current, version, read('CHANGELOG.md'));
  if (problem !== undefined || isDry) return problem;
  const { stdout } = spawnSync('git', ['status', '--porcelain'], { cwd: ROOT, encoding: 'utf8' });
  return stdout === '' ? undefined : 'There are changes that are not committed: commit them first.';
}

async function packInto(folder: string): Promise<readonly string[]> {
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  const published = await publishedPackages();
  for (const one of published) await removeStaleOutput(one);
  const packed = new Map((await pack(published, folder)).map((one) => [one.name, one]));
  return published.map(({ manifest: { name } }) => {
    const one = packed.get(name);
    if (one === undefined) throw new Error(`${name} was not packed.`);
    say(`${name}@${one.version}: ${one.files.length} files, ${Math.round(one.size / 1000)} kB`);
    return join(folder, one.filename);
  });
}

function printCommands(version: string, tarballs: readonly string[]): void {
  say('\nAll is well. This publishes it, each package after those that it depends on:\n');
  say(`git commit -am 'release: ${version}' && git tag v${version}`);
  for (const tarball of tarballs) say(`npm publish --access public ${tarball}`);
}

function must(command: string, args: readonly string[]): void {
  const { status, error } = spawnSync(command, args, {
    cwd: ROOT,
    stdio: ['ignore', 2, 2],
    shell: process.platform === 'win32',
  });
  if (status !== 0) throw new Error(`${command} ${args.join(' ')} failed${error ? `: ${error.message}` : ''}.`);
}

process.exitCode = await main();
