import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { readdir, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { z } from '@cinnabar/sdk';

export const ROOT = fileURLToPath(new URL('../../../', import.meta.url));

const names = z.record(z.string(), z.string()).default({});

/** The used properties of a package.json. */
const manifestSchema = z.object({
  name: z.string(),
  version: z.string(),
  private: z.boolean().default(false),
  license: z.string().optional(),
  description: z.string().optional(),
  repository: z.record(z.string(), z.string()).optional(),
  engines: names,
  main: z.string().optional(),
  bin: names,
  exports: z.record(z.string(), z.union([z.string(), z.record(z.string(), z.string())])).optional(),
  files: z.array(z.string()).default([]),
  publishConfig: names,
  workspaces: z.array(z.string()).default([]),
  scripts: names,
  dependencies: names,
  devDependencies: names,
  peerDependencies: names,
});

export interface Package {
  /** Path from the root; `.` for the root itself. */
  readonly folder: string;
  readonly manifest: z.output<typeof manifestSchema>;
}

async function readPackage(folder: string): Promise<Package> {
  const text = await readFile(join(ROOT, folder, 'package.json'), 'utf8');
  return { folder, manifest: manifestSchema.parse(JSON.parse(text)) };
}

/** All packages of this repository, the root first. */
export async function readPackages(): Promise<readonly Package[]> {
  const root = await readPackage('.');
  const folders = await Promise.all(root.manifest.workspaces.map(expand));
  return [root, ...(await Promise.all(folders.flat().map(readPackage)))];
}

async function expand(pattern: string): Promise<readonly string[]> {
  const [, parent, start] = /^(.+)\/([^/*]*)\*$/.exec(pattern) ?? [];
  if (parent === undefined || start === undefined) return [pattern];
  const found = await readdir(join(ROOT, parent));
  return found
    .filter((name) => name.startsWith(start) && existsSync(join(ROOT, parent, name, 'package.json')))
    .sort()
    .map((name) => `${parent}/${name}`);
}

/** The published packages, each after its dependencies. */
export async function publishedPackages(): Promise<readonly Package[]> {
  const all = (await readPackages()).filter(({ manifest }) => !manifest.private);
  const byName = new Map(all.map((one) => [one.manifest.name, one]));
  const ordered = new Set<Package>();
  const add = (one: Package) => {
    for (const name of Object.keys(one.manifest.dependencies)) {
      const needed = byName.get(name);
      if (needed !== undefined && !ordered.has(needed)) add(needed);
    }
    ordered.add(one);
  };
  for (const one of all) add(one);
  return [...ordered];
}

const packedSchema = z.array(
  z.object({
    name: z.string(),
    version: z.string(),
    /** Size of the tarball, in bytes. */
    size: z.number(),
    unpackedSize: z.number(),
    filename: z.string(),
    files: z.array(z.object({ path: z.string() })),
  }),
);
export type Packed = z.output<typeof packedSchema>[number];

/**
 * Runs `npm pack`.
 * @param destination the folder for the tarballs; without one, nothing is written
 */
export async function pack(packages: readonly Package[], destination?: string): Promise<readonly Packed[]> {
  const which = packages.flatMap(({ folder }) => (folder === '.' ? ['--include-workspace-root'] : ['-w', folder]));
  const how = destination === undefined ? ['--dry-run'] : ['--pack-destination', destination];
  const run = promisify(execFile);
  const { stdout } = await run('npm', ['pack', '--json', '--ignore-scripts', ...how, ...which], {
    cwd: ROOT,
    maxBuffer: 64 * 1024 ** 2,
    shell: process.platform === 'win32',
  });
  return packedSchema.parse(JSON.parse(stdout));
}

/** The compiler's output files, with the name of their source. */
const OUTPUT = /^(.*?)(?:\.d\.ts|\.js)(?:\.map)?$/;

/** Removes output of deleted sources, which the compiler does not remove and npm would publish. */
export async function removeStaleOutput({ folder }: Package): Promise<readonly string[]> {
  const [dist, source] = [join(ROOT, folder, 'dist'), join(ROOT, folder, 'src')];
  if (!existsSync(dist) || !existsSync(source)) return [];
  const outputs = (await readdir(dist, { recursive: true })).filter(
    (file) => !file.startsWith('bundle') && OUTPUT.test(file),
  );
  const stale = outputs.filter((file) => !existsSync(join(source, file.replace(OUTPUT, '$1.ts'))));
  for (const file of stale) await rm(join(dist, file));
  return stale.map((file) => join(folder, 'dist', file));
}

/** Matches a package that is imported by name: with a statement, `import()` or `require`. */
const IMPORTED =
  /(?:^(?:import|export|\})(?:[^'"\n;]*\bfrom)? *|\bimport\(|\brequire\(|createRequire\([^()]*\)\(|\brequire\.resolve\(|\bimport\.meta\.resolve\()['"]((?:@[\w-]+\/)?[a-z][\w.-]*)(?:\/[^'"]*)?['"]/gm;

/** Names of the packages that a package's published code and types import, each with one of the files, without Node's own modules. */
export async function importsOf({ folder, manifest }: Package): Promise<ReadonlyMap<string, string>> {
  const found = new Map<string, string>();
  for (const part of ['src', 'dist'].filter((name) => manifest.files.includes(name))) {
    const files = await readdir(join(ROOT, folder, part), { recursive: true }).catch(() => []);
    for (const file of files.filter((name) => /\.(?:ts|js)$/.test(name) && !name.startsWith('bundle'))) {
      const text = await readFile(join(ROOT, folder, part, file), 'utf8');
      for (const [, name = ''] of text.matchAll(IMPORTED)) {
        if (!name.startsWith('node:') && name !== 'internal' && !found.has(name))
          found.set(name, join(folder, part, file));
      }
    }
  }
  return found;
}
