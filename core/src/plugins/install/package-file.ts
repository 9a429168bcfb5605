import { readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { t, UserError, z } from '@cinnabar/sdk';
import satisfies from 'semver/functions/satisfies.js';
import valid from 'semver/functions/valid.js';
import { parseJson } from './files.js';

const versions = z.record(z.string(), z.string()).default({});
const bundledSchema = z.union([z.boolean(), z.array(z.string())]).optional();
const schema = z.object({
  name: z.string().regex(/^(?:@[a-z0-9~-][a-z0-9._~-]*\/)?[a-z0-9~-][a-z0-9._~-]*$/),
  version: z.string().refine((text) => valid(text) !== null),
  license: z.string().optional().catch(undefined),
  author: z
    .union([z.string(), z.object({ name: z.string() }).transform(({ name }) => name)])
    .optional()
    .catch(undefined),
  dependencies: versions,
  optionalDependencies: versions,
  peerDependencies: versions,
  bundleDependencies: bundledSchema,
  bundledDependencies: bundledSchema,
  engines: z.record(z.string(), z.string()).optional().catch(undefined),
  scripts: versions.catch({}),
});

/** The fields of a package's package.json. */
export interface PackageFile extends Omit<z.output<typeof schema>, 'bundleDependencies' | 'bundledDependencies'> {
  /** Dependencies that the package contains. */
  readonly bundled: readonly string[];
}

/** Scripts that npm would run when installing it. */
export const INSTALL_SCRIPTS = ['preinstall', 'install', 'postinstall', 'prepare'];
const MOST_BYTES = 1_000_000;

/** Reads the package.json of a folder. @throws UserError when there is none, or npm would not accept it */
export async function readPackage(folder: string, from: string): Promise<PackageFile> {
  const path = join(folder, 'package.json');
  const found = await stat(path).catch(() => undefined);
  if (found?.isFile() !== true) throw new UserError(t('{from} has no package.json.', { from }));
  const text = found.size > MOST_BYTES ? '' : await readFile(path, 'utf8');
  const parsed = schema.safeParse(parseJson(text.replace(/^\uFEFF/, '')));
  if (!parsed.success)
    throw new UserError(
      t('The package.json of {from} is not right: {detail}', {
        from,
        detail: `${parsed.error.issues[0]?.path.join('.')} ${parsed.error.issues[0]?.message}`,
      }),
    );
  const { bundleDependencies, bundledDependencies, ...file } = parsed.data;
  const bundle = bundleDependencies ?? bundledDependencies ?? [];
  const bundled = bundle === true ? Object.keys(file.dependencies) : bundle === false ? [] : bundle;
  return { ...file, bundled };
}

/** The package's scripts that npm would run when installing it; the host does not run them. */
export const installScripts = ({ scripts }: PackageFile): readonly string[] =>
  INSTALL_SCRIPTS.filter((name) => name in scripts);

export const hasDependencies = ({ dependencies, optionalDependencies }: PackageFile): boolean =>
  Object.keys({ ...dependencies, ...optionalDependencies }).length > 0;

/** @throws UserError when the package is for another version of Node or of the host */
export function checkEngines({ name, engines, peerDependencies }: PackageFile, hostVersion: string): void {
  const host = peerDependencies['@cinnabar/sdk'] ?? engines?.cinnabar;
  const wanted: readonly (readonly [what: string, range: string | undefined, here: string])[] = [
    ['Node', engines?.node, process.versions.node],
    ['Cinnabar', host, hostVersion],
  ];
  for (const [what, range, here] of wanted) {
    if (range === undefined || range.startsWith('file:') || satisfies(here, range, { includePrerelease: true }))
      continue;
    throw new UserError(t('{package} needs {what} {range}, and this is {here}.', { package: name, what, range, here }));
  }
}
