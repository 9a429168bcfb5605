import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { basename, dirname, join, relative, resolve } from 'node:path';
import { createInterface } from 'node:readline/promises';
import { fileURLToPath } from 'node:url';
import { UserError, z } from '@cinnabar/sdk';
import { findPackage } from '../plugins/build/evaluate.js';
import { bundledFolders, KEYWORD } from '../plugins/discovery.js';
import { HOST_VERSION } from '../version.js';

const TEMPLATES = fileURLToPath(new URL('../../templates/', import.meta.url));
/** Placeholders in the files of a template, the version of the host, and files that npm would not pack under their real name. */
const PLACEHOLDER = { plugin: 'my-plugin', bot: 'my-bot' } as const;
const ANY_VERSION = /(?<=\^)0\.0\.0/g;
const REAL_NAMES: Readonly<Record<string, string>> = { gitignore: '.gitignore', 'env.example': '.env.example' };

const NAME = /^[a-z][a-z0-9-]{0,31}$/;
const NPM_LIMIT = 15 * 60_000;

interface NewOptions {
  /** Whether to make a bot's project instead of a plugin. */
  readonly project: boolean;
  /** Whether dependencies are installed. */
  readonly install: boolean;
}

interface Terminal {
  readonly stdin: NodeJS.ReadableStream & { readonly isTTY?: boolean };
  readonly stdout: NodeJS.WritableStream;
  readonly stderr: NodeJS.WritableStream;
  cwd(): string;
}

/**
 * `cinnabar new NAME`: writes a plugin's or a bot's project into a new folder. Within a bot's project, a plugin goes into its folder of plugins.
 * @returns the exit code
 * @throws UserError when the name cannot be used; nothing is written then
 */
export async function runNew(
  operands: readonly string[],
  { project, install }: NewOptions,
  terminal: Terminal,
): Promise<number> {
  const kind = project ? 'bot' : 'plugin';
  const given = operands[0] ?? (await ask(kind, terminal));
  const name = basename(given).replace(/^cinnabar-plugin-/, '');
  const bot = kind === 'plugin' && given === basename(given) ? await botsProject(terminal.cwd()) : undefined;
  const folder = resolve(bot === undefined ? terminal.cwd() : join(bot, 'plugins'), dirname(given), name);
  await assertUsable(name, kind, folder);

  const files = await copyTemplate(join(TEMPLATES, kind), folder, (text) =>
    text.replaceAll(PLACEHOLDER[kind], name).replace(ANY_VERSION, HOST_VERSION),
  );
  const shown = relative(terminal.cwd(), folder) || '.';
  terminal.stdout.write(
    `${kind === 'bot' ? 'A bot' : 'A plugin'} in ${shown}:\n${files.map((file) => `  ${file}\n`).join('')}`,
  );
  const installed = (await isInstalled(folder)) || (install && npmInstall(folder, terminal));
  terminal.stdout.write(nextSteps(kind, { name, shown, installed, bot }));
  return installed || !install ? 0 : 1;
}

async function ask(kind: keyof typeof PLACEHOLDER, { stdin, stdout }: Terminal): Promise<string> {
  if (stdin.isTTY !== true)
    throw new UserError(`A name is missing: cinnabar new NAME${kind === 'bot' ? ' --project' : ''}.`);
  const lines = createInterface({ input: stdin, output: stdout });
  try {
    return (await lines.question(`What is the ${kind} called? `)).trim();
  } finally {
    lines.close();
  }
}

async function assertUsable(name: string, kind: keyof typeof PLACEHOLDER, folder: string): Promise<void> {
  if (!NAME.test(name))
    throw new UserError(
      `"${name}" cannot be the name of a ${kind}: it has up to 32 lower case letters, digits and hyphens, and begins with a letter.`,
    );
  if (kind === 'plugin') {
    const taken = bundledFolders().map((path) => basename(path).replace(/^plugin-/, ''));
    if (taken.includes(name))
      throw new UserError(`There is a plugin called ${name} already, which comes with the host. Choose another name.`);
    const outer = await pluginAround(dirname(folder));
    if (outer !== undefined)
      throw new UserError(
        `${outer} is a plugin's folder: a plugin cannot lie within another one. Change to another folder first.`,
      );
  }
  const there = existsSync(folder) ? await readdir(folder) : [];
  if (there.length > 0) throw new UserError(`${folder} is there already and is not empty. Nothing was changed.`);
}

const packageSchema = z.object({
  keywords: z.array(z.string()).default([]),
  dependencies: z.record(z.string(), z.unknown()).default({}),
  devDependencies: z.record(z.string(), z.unknown()).default({}),
});

/** `undefined` when there is none, or it cannot be read. */
async function packageOf(folder: string): Promise<z.output<typeof packageSchema> | undefined> {
  try {
    return packageSchema.parse(JSON.parse(await readFile(join(folder, 'package.json'), 'utf8')));
  } catch {
    return undefined;
  }
}

/** The folder, if it is a bot's project with plugins. */
async function botsProject(folder: string): Promise<string | undefined> {
  const found = await packageOf(folder);
  const isBot = found?.dependencies.cinnabar !== undefined && !found.keywords.includes(KEYWORD);
  return isBot && existsSync(join(folder, 'plugins')) ? folder : undefined;
}

/** The folder or its nearest parent that is a plugin's project. */
async function pluginAround(folder: string): Promise<string | undefined> {
  if ((await packageOf(folder))?.keywords.includes(KEYWORD)) return folder;
  const parent = dirname(folder);
  return parent === folder ? undefined : pluginAround(parent);
}

/** @returns the files that were written, from the folder */
async function copyTemplate(
  template: string,
  folder: string,
  fill: (text: string) => string,
): Promise<readonly string[]> {
  const written: string[] = [];
  for (const entry of await readdir(template, { withFileTypes: true, recursive: true })) {
    if (!entry.isFile()) continue;
    const source = join(entry.parentPath, entry.name);
    const path = join(relative(template, entry.parentPath), fill(REAL_NAMES[entry.name] ?? entry.name));
    await mkdir(dirname(join(folder, path)), { recursive: true });
    await writeFile(join(folder, path), fill(await readFile(source, 'utf8')), { flag: 'wx' });
    written.push(path);
  }
  return written.sort();
}

/** Whether all dependencies can be resolved from the folder, as in one below a folder that has them. */
async function isInstalled(folder: string): Promise<boolean> {
  const { dependencies = {}, devDependencies = {} } = (await packageOf(folder)) ?? {};
  return Object.keys({ ...dependencies, ...devDependencies }).every((name) => findPackage(name, folder) !== undefined);
}

function npmInstall(folder: string, { stderr }: Terminal): boolean {
  stderr.write('Installing what it depends on …\n');
  const { status } = spawnSync('npm', ['install', '--no-audit', '--no-fund', '--loglevel', 'error'], {
    cwd: folder,
    // Standard output is for the result of the command.
    stdio: ['ignore', 2, 2],
    timeout: NPM_LIMIT,
    shell: process.platform === 'win32',
  });
  if (status === 0) return true;
  stderr.write(`What it depends on could not be installed. The files are there: run "npm install" in ${folder}.\n`);
  return false;
}

interface Made {
  readonly name: string;
  /** Path of the folder from the working directory. */
  readonly shown: string;
  readonly installed: boolean;
  readonly bot: string | undefined;
}

function nextSteps(kind: keyof typeof PLACEHOLDER, { name, shown, installed, bot }: Made): string {
  const install = installed ? [] : ['npm install'];
  const steps =
    kind === 'bot'
      ? [
          `cd ${shown}`,
          ...install,
          'npm start             # a local Discord to try it on; with a token in .env, Discord',
        ]
      : [
          `cd ${shown}`,
          ...install,
          'npm test              # its test, on a local Discord',
          `npm run dev           # talk to it: !${name} world; what you save is reloaded`,
          'npm run check         # what others will ask of it',
        ];
  const loaded =
    bot === undefined
      ? ''
      : `The bot of this folder loads it at its next start; while it runs: !plugin load ${name}.\n`;
  return `\nNext:\n${steps.map((step) => `  ${step}\n`).join('')}${loaded}`;
}
