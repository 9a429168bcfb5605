import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { mkdir, readdir, readFile, rm, stat } from 'node:fs/promises';
import { homedir } from 'node:os';
import { basename, join } from 'node:path';
import { t, UserError, z } from '@cinnabar/sdk';
import maxSatisfying from 'semver/ranges/max-satisfying.js';
import validRange from 'semver/ranges/valid.js';
import { type Downloads, NotThere } from './download.js';
import { copyFolder, measure, parseJson, type SizeLimit, tooLarge } from './files.js';
import { NoProgram, runProgram } from './programs.js';
import { type PackageSpec, specText } from './spec.js';
import { unpackTarball } from './unpack.js';

type Environment = Readonly<Record<string, string | undefined>>;

/** The registries from which npm packages are downloaded, as in npm's configuration. */
export interface NpmConfiguration {
  registryOf(packageName: string): URL;
  /** The origins of all registries. */
  readonly origins: readonly string[];
  /** Credentials for an address of a registry. */
  headersOf(url: URL): Readonly<Record<string, string>>;
  /** Registries of scopes, and credentials, as lines of an `.npmrc` for npm itself, which gets no variable of the bot. */
  readonly lines: readonly string[];
}

const FOR_NPM = /^(?:@[^:]+:registry|\/\/.+:(?:_authToken|_auth|username|_password))$/;
const USUAL = 'https://registry.npmjs.org/';

/**
 * Reads npm's configuration: the variable `npm_config_registry`, then `.npmrc` of the folder and of the user.
 * @throws UserError for a registry that is not an address
 */
export async function readNpmConfiguration(root: string, env: Environment): Promise<NpmConfiguration> {
  const files = await Promise.all([join(homedir(), '.npmrc'), join(root, '.npmrc')].map(readLines));
  const values = new Map(files.flat().map(([key, value]) => [key, expanded(value, env)] as const));
  const fromEnvironment = env.npm_config_registry || env.NPM_CONFIG_REGISTRY;
  const addressOf = (text: string) => {
    if (!URL.canParse(text)) throw new UserError(t('The npm registry {address} is not an address.', { address: text }));
    return new URL(text.endsWith('/') ? text : `${text}/`);
  };
  const usual = addressOf(fromEnvironment || values.get('registry') || USUAL);
  const scopes = new Map(
    [...values].flatMap(([key, value]) =>
      /^@[^:]+:registry$/.test(key) ? [[key.split(':')[0], addressOf(value)]] : [],
    ),
  );
  return {
    registryOf: (name) => scopes.get(name.split('/')[0]) ?? usual,
    origins: [usual, ...scopes.values()].map(({ origin }) => origin),
    headersOf(url) {
      const address = `//${url.host}${url.pathname}`;
      const [nearest] = [...values]
        .flatMap(([key, value]) => {
          const [, place, kind = ''] = /^(\/\/.+?)\/?:(_authToken|_auth)$/.exec(key) ?? [];
          return place !== undefined && `${address}/`.startsWith(`${place}/`) ? [{ place, kind, value }] : [];
        })
        .sort((one, other) => other.place.length - one.place.length);
      if (nearest === undefined) return {};
      return { authorization: `${nearest.kind === '_auth' ? 'Basic' : 'Bearer'} ${nearest.value}` };
    },
    lines: [...values].flatMap(([key, value]) => (FOR_NPM.test(key) ? [`${key}=${value}`] : [])),
  };
}

async function readLines(file: string): Promise<readonly (readonly [key: string, value: string])[]> {
  const text = await readFile(file, 'utf8').catch(() => '');
  return text.split('\n').flatMap((line) => {
    const [, key, value] = /^\s*([^#;=\s][^=]*?)\s*=\s*"?(.*?)"?\s*$/.exec(line) ?? [];
    return key === undefined || value === undefined ? [] : [[key, value] as const];
  });
}

const expanded = (value: string, env: Environment) =>
  value.replace(/\$\{(\w+)\}/g, (_, name: string) => env[name] ?? '');

/** A version of a package, as its registry describes it. */
interface NpmVersion {
  readonly name: string;
  readonly version: string;
  readonly tarball: URL;
  readonly integrity: string | undefined;
  readonly shasum: string | undefined;
  readonly deprecated: string | undefined;
}

const MOST_PACKUMENT_BYTES = 50_000_000;
const packument = z.object({
  'dist-tags': z.record(z.string(), z.string()).default({}),
  versions: z.record(
    z.string(),
    z.object({
      dist: z.object({ tarball: z.url(), integrity: z.string().optional(), shasum: z.string().optional() }),
      deprecated: z.union([z.string(), z.boolean()]).optional(),
    }),
  ),
});

/**
 * Resolves a range or a tag to a version.
 * @param range empty for `latest`
 * @throws UserError when there is no such version
 */
export async function findVersion(
  name: string,
  range: string,
  npm: NpmConfiguration,
  downloads: Downloads,
): Promise<NpmVersion> {
  const registry = npm.registryOf(name);
  // Escapes the slash in the name of a scoped package.
  const url = new URL(name.replace('/', '%2f'), registry);
  const text = await downloads
    .text(url, {
      mostBytes: MOST_PACKUMENT_BYTES,
      accept: 'application/vnd.npm.install-v1+json, application/json;q=0.8',
    })
    .catch((error: unknown) => {
      if (!(error instanceof NotThere)) throw error;
      throw new UserError(t('{registry} has no package {name}.', { registry: registry.host, name }), { cause: error });
    });
  const parsed = packument.safeParse(parseJson(text));
  if (!parsed.success)
    throw new UserError(t('The answer of {registry} about {name} cannot be read.', { registry: registry.host, name }));
  const { versions, 'dist-tags': tags } = parsed.data;
  const wanted = range === '' ? 'latest' : range;
  const version = Object.hasOwn(tags, wanted)
    ? tags[wanted]
    : validRange(wanted) === null
      ? undefined
      : (maxSatisfying(Object.keys(versions), wanted) ?? undefined);
  const found = version !== undefined && Object.hasOwn(versions, version) ? versions[version] : undefined;
  if (version === undefined || found === undefined)
    throw new UserError(t('There is no version {range} of {name}.', { range: wanted, name }));
  const { dist, deprecated } = found;
  return {
    name,
    version,
    tarball: new URL(dist.tarball),
    integrity: dist.integrity,
    shasum: dist.shasum,
    deprecated: typeof deprecated === 'string' && deprecated !== '' ? deprecated : undefined,
  };
}

/**
 * Verifies a download by its expected integrity.
 * @throws UserError when it differs, or when there is no integrity that could be verified
 */
export function checkIntegrity(
  what: string,
  got: { readonly sha512: string; readonly sha1: string },
  promised: { readonly integrity?: string | undefined; readonly shasum?: string | undefined },
): void {
  const sha512 = promised.integrity?.split(/\s+/).filter((one) => one.startsWith('sha512-')) ?? [];
  // Versions from before 2017 have only this hash.
  const isSame =
    sha512.length > 0
      ? sha512.includes(`sha512-${got.sha512}`)
      : promised.integrity === undefined && promised.shasum === got.sha1;
  if (!isSame) throw notAsPromised(what);
}

function notAsPromised(what: string): UserError {
  return new UserError(
    t('{what} is not what its integrity says: it has been changed on its way, or where it lies.', { what }),
  );
}

interface FetchOptions {
  readonly work: string;
  readonly npm: NpmConfiguration;
  readonly downloads: Downloads;
  readonly limit: SizeLimit;
  /** The integrity of the tarball according to a registry file. */
  readonly promised?: string | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** A package's files, below `work`, without its dependencies. */
export interface Fetched {
  readonly folder: string;
  /** For people: `npm package dice2@1.2.0`. */
  readonly source: string;
  /** Integrity of the tarball, or of all files when there was none. */
  readonly integrity: string;
  /** Whether the same version always has the same integrity: true for tarballs, not for folders. */
  readonly isPublished: boolean;
  readonly deprecated?: string | undefined;
}

const GIT_MS = 300_000;

/** Downloads the package that a spec names. @throws UserError */
export async function fetchPackage(spec: PackageSpec, options: FetchOptions): Promise<Fetched> {
  const { work, npm, downloads, limit } = options;
  const folder = join(work, 'package');
  const tarball = join(work, 'package.tgz');
  switch (spec.kind) {
    case 'npm': {
      const {
        name,
        version,
        tarball: url,
        deprecated,
        ...promised
      } = await findVersion(spec.name, spec.range, npm, downloads);
      const label = `${name}@${version}`;
      const got = await downloads.file(url, tarball, { mostBytes: limit.mostBytes });
      checkIntegrity(label, got, promised);
      if (options.promised !== undefined) checkIntegrity(label, got, { integrity: options.promised });
      await unpackTarball(tarball, folder, label, limit);
      return {
        folder,
        source: t('npm package {name}', { name: label }),
        integrity: `sha512-${got.sha512}`,
        isPublished: true,
        deprecated,
      };
    }
    case 'url': {
      const got = await downloads.file(spec.url, tarball, { mostBytes: limit.mostBytes });
      if (options.promised !== undefined) checkIntegrity(spec.url.href, got, { integrity: options.promised });
      await unpackTarball(tarball, folder, spec.url.href, limit);
      return { folder, source: spec.url.href, integrity: `sha512-${got.sha512}`, isPublished: true };
    }
    case 'path': {
      const found = await stat(spec.path).catch(() => undefined);
      if (found === undefined) throw new UserError(t('There is nothing at {path}.', { path: spec.path }));
      const source = spec.path;
      if (found.isDirectory()) {
        await copyFolder(spec.path, folder, basename(spec.path), limit);
        return { folder, source, integrity: (await measure(folder)).integrity, isPublished: false };
      }
      if (found.size > limit.mostBytes) throw tooLarge(basename(spec.path), limit.mostBytes);
      const integrity = await integrityOf(spec.path);
      if (options.promised !== undefined && options.promised !== integrity) throw notAsPromised(spec.path);
      await unpackTarball(spec.path, folder, basename(spec.path), limit);
      return { folder, source, integrity, isPublished: true };
    }
    case 'git': {
      const clone = join(work, 'clone');
      await cloneRepository(spec.url, spec.ref, clone, options);
      await copyFolder(clone, folder, spec.url, limit);
      await rm(clone, { recursive: true, force: true });
      return { folder, source: specText(spec), integrity: (await measure(folder)).integrity, isPublished: false };
    }
  }
}

async function integrityOf(file: string): Promise<string> {
  const hash = createHash('sha512');
  for await (const chunk of createReadStream(file)) hash.update(chunk);
  return `sha512-${hash.digest('base64')}`;
}

/** Clones one commit, without submodules, hooks or prompts. */
async function cloneRepository(
  url: string,
  ref: string | undefined,
  folder: string,
  { work, limit, signal }: FetchOptions,
): Promise<void> {
  await mkdir(work, { recursive: true, mode: 0o700 });
  const args = [
    '-c',
    'core.hooksPath=/dev/null',
    '-c',
    'core.symlinks=true',
    'clone',
    '--quiet',
    '--depth=1',
    '--no-tags',
    '--no-recurse-submodules',
    '--template=',
  ];
  const which = ref === undefined ? [] : ['--branch', ref];
  const env = {
    GIT_TERMINAL_PROMPT: '0',
    GIT_ALLOW_PROTOCOL: 'https:ssh:file',
    GIT_LFS_SKIP_SMUDGE: '1',
    GIT_SSH_COMMAND: 'ssh -oBatchMode=yes',
  };
  const watch = async () => {
    // The limit is tripled, since git stores its own copies of the files.
    if ((await sizeOf(folder)) > 3 * limit.mostBytes) throw tooLarge(url, limit.mostBytes);
  };
  try {
    await runProgram('git', [...args, ...which, '--', url, folder], {
      cwd: work,
      env,
      timeoutMs: GIT_MS,
      signal,
      watch,
    });
  } catch (error) {
    if (!(error instanceof NoProgram)) throw error;
    throw new UserError(t('git is not installed here, so that no repository can be read.'), { cause: error });
  }
}

/** Size of the files while they are being written. */
async function sizeOf(folder: string): Promise<number> {
  const entries = await readdir(folder, { withFileTypes: true }).catch(() => []);
  const sizes = await Promise.all(
    entries.map(async (entry) => {
      const path = join(folder, entry.name);
      return entry.isDirectory() ? sizeOf(path) : ((await stat(path).catch(() => undefined))?.size ?? 0);
    }),
  );
  return sizes.reduce((sum, size) => sum + size, 0);
}
