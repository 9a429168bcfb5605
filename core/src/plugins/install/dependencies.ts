import { mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { t, UserError, z } from '@cinnabar/sdk';
import PQueue from 'p-queue';
import type { Downloads } from './download.js';
import { parseJson, type SizeLimit } from './files.js';
import { checkIntegrity, type NpmConfiguration } from './npm-registry.js';
import type { PackageFile } from './package-file.js';
import { NoProgram, runProgram } from './programs.js';
import { unpackTarball } from './unpack.js';

interface DependencyOptions {
  /** Working folder; removed at the end. */
  readonly work: string;
  readonly cacheDir: string;
  readonly npm: NpmConfiguration;
  readonly downloads: Downloads;
  readonly limit: SizeLimit;
  readonly signal?: AbortSignal | undefined;
}

interface Dependencies {
  readonly count: number;
  /** Dependencies with install scripts, which are not run. */
  readonly withScripts: readonly string[];
}

/**
 * Forbids npm to fetch indirect dependencies from repositories, folders and addresses, which it does before its lock file can be checked. Versions before 11.10
 * only have the setting for git's program. As environment variables, these settings override an `.npmrc` in such a place.
 */
const NOT_FROM_ELSEWHERE = {
  npm_config_allow_git: 'none',
  npm_config_allow_remote: 'none',
  npm_config_allow_file: 'none',
  npm_config_allow_directory: 'none',
  npm_config_ignore_scripts: 'true',
  npm_config_git: 'git-is-not-run-for-dependencies',
};
const NPM_MS = 120_000;
const AT_ONCE = 6;
/** `node_modules/@scope/name`, also nested. */
const PLACE = /^(?:node_modules\/(?:@[\w.~-]+\/)?[\w~-][\w.~-]*(?:\/(?=node_modules\/)|$))+$/;

const names = z.array(z.string()).optional();
const lockSchema = z.object({
  packages: z.record(
    z.string(),
    z.object({
      version: z.string().optional(),
      resolved: z.string().optional(),
      integrity: z.string().optional(),
      link: z.boolean().optional(),
      optional: z.boolean().optional(),
      inBundle: z.boolean().optional(),
      hasInstallScript: z.boolean().optional(),
      os: names,
      cpu: names,
      libc: names,
    }),
  ),
});
type Locked = z.output<typeof lockSchema>['packages'][string];

/**
 * Installs a plugin's dependencies into a separate `node_modules`. npm only resolves the versions. Each package is downloaded, verified by its integrity and
 * unpacked here, so that no script runs, and the same checks apply as to the plugin's tarball.
 * @param folder the unpacked plugin
 * @throws UserError
 */
export async function installDependencies(
  folder: string,
  { name, version, dependencies, optionalDependencies, bundled }: PackageFile,
  { work, cacheDir, npm, downloads, limit, signal }: DependencyOptions,
): Promise<Dependencies> {
  const without = (all: Readonly<Record<string, string>>) =>
    Object.fromEntries(Object.entries(all).filter(([one]) => !bundled.includes(one)));
  const wanted = { dependencies: without(dependencies), optionalDependencies: without(optionalDependencies) };
  const all = { ...wanted.dependencies, ...wanted.optionalDependencies };
  if (Object.keys(all).length === 0) return { count: bundled.length, withScripts: [] };
  for (const [one, range] of Object.entries(all)) assertFromRegistry(name, one, range);

  const place = join(work, 'dependencies');
  await mkdir(place, { recursive: true, mode: 0o700 });
  await writeFile(join(place, 'package.json'), JSON.stringify({ name, version, ...wanted }));
  await lock(name, place, { cacheDir, npm, signal });
  const locked = lockSchema.safeParse(parseJson(await readFile(join(place, 'package-lock.json'), 'utf8')));
  if (!locked.success)
    throw new UserError(t('The answer of npm about the dependencies of {package} cannot be read.', { package: name }));
  const packages = Object.entries(locked.data.packages).filter(
    ([path, one]) => path !== '' && one.inBundle !== true && isForHere(one),
  );

  const fetchOne = async (path: string, one: Locked, at: number) => {
    const url = addressOf(name, path, one);
    const label = `${nameIn(path)}@${one.version}`;
    const tarball = join(place, `${at}.tgz`);
    const got = await downloads.file(url, tarball, { mostBytes: limit.mostBytes });
    checkIntegrity(label, got, { integrity: one.integrity });
    await unpackTarball(tarball, join(folder, path), label, limit);
    await rm(tarball);
  };
  const queue = new PQueue({ concurrency: AT_ONCE });
  try {
    await queue.addAll(
      packages.map(
        ([path, one], at) =>
          () =>
            fetchOne(path, one, at),
      ),
    );
  } finally {
    // After the first failure no further download starts, and running ones end before their folder is deleted.
    queue.clear();
    await queue.onIdle();
  }
  const withScripts = packages.filter(([, one]) => one.hasInstallScript === true).map(([path]) => nameIn(path));
  return { count: packages.length + bundled.length, withScripts };
}

function assertFromRegistry(plugin: string, name: string, range: string): void {
  if (name.startsWith('@cinnabar/'))
    throw new UserError(
      t('{plugin} brings its own {dependency}: a plugin uses that of the host. It belongs into its peerDependencies.', {
        plugin,
        dependency: name,
      }),
    );
  if (/[:/]/.test(range.replace(/^npm:/, '')) && !/^npm:(?:@[\w.-]+\/)?[\w.-]+(?:@[^:/]*)?$/.test(range))
    throw new UserError(
      t('{plugin} depends on {dependency} from {place}: only dependencies from the npm registry are installed.', {
        plugin,
        dependency: name,
        place: range,
      }),
    );
}

async function lock(
  name: string,
  cwd: string,
  { cacheDir, npm, signal }: Pick<DependencyOptions, 'cacheDir' | 'npm' | 'signal'>,
): Promise<void> {
  // Written here, because npm would not find the `.npmrc` of the bot's folder, which may also use variables that npm does not get.
  const file = join(cwd, '.npmrc');
  await writeFile(file, npm.lines.join('\n'), { mode: 0o600 });
  const args = [
    'install',
    '--package-lock-only',
    '--ignore-scripts',
    '--omit=dev',
    '--legacy-peer-deps',
    '--no-audit',
    '--omit-lockfile-registry-resolved=false',
    '--no-fund',
    '--loglevel=error',
  ];
  try {
    await runProgram('npm', args, {
      cwd,
      env: {
        npm_config_registry: npm.registryOf('').href,
        npm_config_cache: join(cacheDir, 'npm'),
        npm_config_update_notifier: 'false',
        ...NOT_FROM_ELSEWHERE,
      },
      timeoutMs: NPM_MS,
      signal,
    });
  } catch (error) {
    if (!(error instanceof NoProgram)) {
      if (error instanceof UserError)
        throw new UserError(
          t('The dependencies of {package} cannot be had: {detail}', { package: name, detail: error.message }),
          { cause: error },
        );
      throw error;
    }
    throw new UserError(
      t(
        '{package} has dependencies, and npm, which finds them, is not installed here. Install npm, or a plugin without dependencies.',
        { package: name },
      ),
      { cause: error },
    );
  } finally {
    await rm(file);
  }
}

/** @throws UserError for a package that does not come from a registry */
function addressOf(plugin: string, path: string, { resolved = '', integrity, link }: Locked): URL {
  const dependency = nameIn(path);
  if (dependency.startsWith('@cinnabar/'))
    throw new UserError(
      t('{plugin} brings its own {dependency}: a plugin uses that of the host. It belongs into its peerDependencies.', {
        plugin,
        dependency,
      }),
    );
  if (
    !PLACE.test(path) ||
    link === true ||
    integrity === undefined ||
    !/^https?:/.test(resolved) ||
    !URL.canParse(resolved)
  )
    throw new UserError(
      t('{plugin} depends on {dependency} from {place}: only dependencies from the npm registry are installed.', {
        plugin,
        dependency,
        place: resolved || path,
      }),
    );
  return new URL(resolved);
}

const nameIn = (path: string) => path.slice(path.lastIndexOf('node_modules/') + 'node_modules/'.length);

/** Whether a package is for this system. Entries are in npm's format: `!` in front excludes a system, an entry without it allows one. */
function isForHere({ os, cpu, libc, optional }: Locked): boolean {
  const fits = (list: readonly string[] | undefined, here: string | undefined) => {
    if (list === undefined || here === undefined || list.includes('any')) return true;
    const [excluded, named] = [list.filter((one) => one.startsWith('!')), list.filter((one) => !one.startsWith('!'))];
    return !excluded.includes(`!${here}`) && (named.length === 0 || named.includes(here));
  };
  // A required package for another system is installed, and fails when it is loaded.
  return optional !== true || (fits(os, process.platform) && fits(cpu, process.arch) && fits(libc, libc && libcHere()));
}

function libcHere(): string | undefined {
  if (process.platform !== 'linux') return undefined;
  const report: unknown = process.report.getReport();
  const isGlibc = z.object({ header: z.object({ glibcVersionRuntime: z.string() }) }).safeParse(report).success;
  return isGlibc ? 'glibc' : 'musl';
}
