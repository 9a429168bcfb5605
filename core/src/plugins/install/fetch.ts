import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { mkdir, readdir, rm, stat } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { t, UserError } from '@cinnabar/sdk';
import type { Downloads } from './download.js';
import { copyFolder, measure } from './files.js';
import { checkIntegrity, findVersion, type NpmConfiguration, notAsPromised } from './npm-registry.js';
import { NoProgram, runProgram } from './programs.js';
import type { Room } from './room.js';
import { tooLarge } from './room.js';
import { type PackageSpec, specText } from './spec.js';
import { unpackTarball } from './unpack.js';

interface FetchOptions {
  readonly work: string;
  readonly npm: NpmConfiguration;
  readonly downloads: Downloads;
  readonly room: Room;
  /** What a registry file says that the tarball is. */
  readonly promised?: string | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** A package's own files, below `work`, without its dependencies. */
export interface Fetched {
  readonly folder: string;
  /** For people: `npm package dice2@1.2.0`. */
  readonly source: string;
  /** Of the tarball, or of all files where there was none. */
  readonly integrity: string;
  /** Whether the same version has the same integrity for ever: so it is with tarballs, not with folders. */
  readonly isPublished: boolean;
  readonly deprecated?: string | undefined;
}

const GIT_MS = 300_000;

/** Fetches what a spec names. @throws UserError */
export async function fetchPackage(spec: PackageSpec, options: FetchOptions): Promise<Fetched> {
  const { work, npm, downloads, room } = options;
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
      const got = await downloads.file(url, tarball, { mostBytes: room.mostBytes });
      checkIntegrity(label, got, promised);
      if (options.promised !== undefined) checkIntegrity(label, got, { integrity: options.promised });
      await unpackTarball(tarball, folder, label, room);
      return {
        folder,
        source: t('npm package {name}', { name: label }),
        integrity: `sha512-${got.sha512}`,
        isPublished: true,
        deprecated,
      };
    }
    case 'url': {
      const got = await downloads.file(spec.url, tarball, { mostBytes: room.mostBytes });
      if (options.promised !== undefined) checkIntegrity(spec.url.href, got, { integrity: options.promised });
      await unpackTarball(tarball, folder, spec.url.href, room);
      return { folder, source: spec.url.href, integrity: `sha512-${got.sha512}`, isPublished: true };
    }
    case 'path': {
      const found = await stat(spec.path).catch(() => undefined);
      if (found === undefined) throw new UserError(t('There is nothing at {path}.', { path: spec.path }));
      const source = spec.path;
      if (found.isDirectory()) {
        await copyFolder(spec.path, folder, basename(spec.path), room);
        return { folder, source, integrity: (await measure(folder)).integrity, isPublished: false };
      }
      if (found.size > room.mostBytes) throw tooLarge(basename(spec.path), room.mostBytes);
      const integrity = await integrityOf(spec.path);
      if (options.promised !== undefined && options.promised !== integrity) throw notAsPromised(spec.path);
      await unpackTarball(spec.path, folder, basename(spec.path), room);
      return { folder, source, integrity, isPublished: true };
    }
    case 'git': {
      const clone = join(work, 'clone');
      await cloneRepository(spec.url, spec.ref, clone, options);
      await copyFolder(clone, folder, spec.url, room);
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

/** One commit, no submodules, no hooks, and no questions. */
async function cloneRepository(
  url: string,
  ref: string | undefined,
  folder: string,
  { work, room, signal }: FetchOptions,
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
    // With what git itself keeps of them.
    if ((await sizeOf(folder)) > 3 * room.mostBytes) throw tooLarge(url, room.mostBytes);
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

/** Of what is there while it is being written. */
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
