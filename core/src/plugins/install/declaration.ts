import { fork } from 'node:child_process';
import { realpathSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join, relative, resolve, sep } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type PluginDeclaration, t, UserError, z } from '@cinnabar/sdk';
import { GatewayIntentBits, PermissionFlagsBits, type PermissionsString } from 'discord.js';
import { bundleDirOf } from '../../bundling/built.js';
import { HOST_VERSION } from '../../version.js';
import { build, readCacheFile } from '../build/build.js';
import type { DiscoveredPlugin } from '../discovery.js';

/** The request to the process. */
export interface DeclarationTask {
  /** The folder of the host's bundle, which may not exist. */
  readonly bundleDir: string;
  readonly plugins: readonly BuiltPlugin[];
}
/** A plugin, and its bundle. */
export interface BuiltPlugin {
  readonly file: string;
  readonly found: DiscoveredPlugin;
}
/** The process's answer for each plugin. */
export type Answer = z.input<typeof answerSchema>;

const SCRIPT = new URL('./declaration-process.js', import.meta.url);
const MEMORY_MB = 256;
const TIME_MS = 20_000;
/** Maximum length of a text in the process's answer, which untrusted code may have made. */
const LONG = 300;

const isPermission = (name: string): name is PermissionsString => name in PermissionFlagsBits;
const text = z.string().max(LONG);
const texts = z.array(text).max(500);
const answerSchema = z.union([
  z.object({
    ok: z.literal(true),
    declaration: z.object({
      id: z.string().regex(/^[a-z][a-z0-9-]{0,31}$/),
      version: text,
      description: z.string().transform((one) => one.slice(0, LONG)),
      author: text.optional(),
      intents: z.array(z.string().refine((name) => name in GatewayIntentBits)).max(100),
      permissions: z.array(z.string().refine(isPermission)).max(100),
      hosts: texts,
      env: texts,
      injects: texts,
      tools: z.array(z.object({ name: text, risk: z.enum(['read', 'write', 'destructive']) })).max(500),
      commands: texts,
      incomplete: z
        .string()
        .transform((one) => one.slice(0, LONG))
        .optional(),
    }),
  }),
  z.object({ ok: z.literal(false), reason: z.string().transform((one) => one.slice(0, 1_000)) }),
]);

/**
 * Builds a plugin and reads its declaration in a separate process: none of its code runs in this one. The process has no token and no key, may read only the
 * plugin's folder and the host's packages, may not write files, start programs or use the network, and has limits of time and memory.
 * @param cacheDir the folder for the bundle of the plugin
 * @param buildCacheDir `HostConfig.buildCacheDir`
 * @throws UserError when it does not build, imports files outside of its folder, or is not a plugin
 */
export async function readDeclaration(
  found: DiscoveredPlugin,
  { cacheDir, buildCacheDir }: { readonly cacheDir: string; readonly buildCacheDir: string },
): Promise<PluginDeclaration> {
  const file = await build(found, { cacheDir, hostVersion: HOST_VERSION, verify: true });
  await assertWithinFolder(found, file);
  const task = { plugins: [{ file, found }], bundleDir: bundleDirOf(buildCacheDir) };
  const answers = z.array(answerSchema).safeParse(await ask(task, [found.path, cacheDir]));
  const [answer] = answers.data ?? [];
  if (answer === undefined) throw new UserError(t('The declaration of {plugin} cannot be read.', { plugin: found.id }));
  if (!answer.ok) throw new UserError(answer.reason);
  return { ...answer.declaration, permissions: answer.declaration.permissions.filter(isPermission) };
}

/**
 * The first words of the commands of bundled and installed plugins. Plugins that cannot be read have none.
 * @param buildCacheDir `HostConfig.buildCacheDir`
 */
export async function readCommands(
  plugins: readonly DiscoveredPlugin[],
  buildCacheDir: string,
): Promise<readonly string[]> {
  const cacheDir = join(buildCacheDir, 'plugins');
  const options = { cacheDir, hostVersion: HOST_VERSION, verify: false };
  const built = await Promise.allSettled(plugins.map(async (found) => ({ file: await build(found, options), found })));
  const task = {
    plugins: built.flatMap((one) => (one.status === 'fulfilled' ? [one.value] : [])),
    bundleDir: bundleDirOf(buildCacheDir),
  };
  const answers = z.array(answerSchema).safeParse(await ask(task, [...plugins.map(({ path }) => path), cacheDir]));
  return (answers.data ?? []).flatMap((answer) => (answer.ok ? answer.declaration.commands : []));
}

/**
 * Checks that all modules in the bundle are in the plugin's folder: the bundle contains those that are imported by a path, wherever they are.
 * @throws UserError
 */
async function assertWithinFolder({ id, path }: DiscoveredPlugin, file: string): Promise<void> {
  const { inputs = [] } = (await readCacheFile(file)) ?? {};
  const outside = inputs.find((input) => relative(path, input.path).startsWith('..'));
  if (outside === undefined) return;
  throw new UserError(
    t('{plugin} imports {file}, which is outside of its folder.', { plugin: id, file: relative(path, outside.path) }),
  );
}

/** @param folders the folders of the plugins and of their bundles, which the process may read */
function ask(task: DeclarationTask, folders: readonly string[]): Promise<unknown> {
  const child = fork(fileURLToPath(SCRIPT), {
    // No variables of this process, except one that Windows needs to run programs.
    env: process.platform === 'win32' ? { SystemRoot: process.env.SystemRoot } : {},
    execArgv: [`--max-old-space-size=${MEMORY_MB}`, ...permissionFlags([...folders, task.bundleDir])],
    stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
    serialization: 'json',
  });
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => {
      child.kill('SIGKILL');
      reject(new UserError(t('What it declares could not be read within {seconds} s.', { seconds: TIME_MS / 1000 })));
    }, TIME_MS);
    child.once('message', resolve);
    child.once('error', reject);
    child.once('exit', (code, signal) => {
      clearTimeout(timer);
      reject(
        new UserError(
          t('The process that read what it declares ended with {reason}.', { reason: signal ?? `exit code ${code}` }),
        ),
      );
    });
    child.send(task);
  });
}

/** https://nodejs.org/api/permissions.html, under its name in this version of Node. */
function permissionFlags(folders: readonly string[]): readonly string[] {
  const flag = process.allowedNodeEnvironmentFlags.has('--permission') ? '--permission' : '--experimental-permission';
  const readable = new Set(
    [...hostFolders(), ...folders, ...folders.flatMap(lookedUpFrom)].map((folder) => resolve(folder)),
  );
  // Node 20 aborts when one permitted folder contains another.
  const outermost = [...readable].filter((one) => ![...readable].some((other) => one.startsWith(other + sep)));
  return [flag, '--no-warnings', ...outermost.map((folder) => `--allow-fs-read=${join(folder, '*')}`)];
}

/** The folders of the host and its packages: `core` and the SDK, without other files in the workspace, and the folders in which their packages are found. */
function hostFolders(): readonly string[] {
  const core = realpathSync(fileURLToPath(new URL('../../../', import.meta.url)));
  const sdk = join(realpathSync(dirname(createRequire(import.meta.url).resolve('@cinnabar/sdk'))), '..');
  return [core, sdk, ...lookedUpFrom(core), ...lookedUpFrom(sdk)];
}

/**
 * Each `node_modules` in which Node looks for packages of a folder, whether it exists or not: without permission, Node would report an error instead of a
 * missing file.
 */
function lookedUpFrom(folder: string): readonly string[] {
  const parent = dirname(folder);
  return [join(folder, 'node_modules'), ...(parent === folder ? [] : lookedUpFrom(parent))];
}
