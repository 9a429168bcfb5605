import { readFile } from 'node:fs/promises';
import { isAbsolute, join } from 'node:path';
import { type ListedPlugin, operatorSentenceOf, t, UserError, z } from '@cinnabar/sdk';
import compare from 'semver/functions/compare.js';
import valid from 'semver/functions/valid.js';
import maxSatisfying from 'semver/ranges/max-satisfying.js';
import type { Downloads } from './download.js';
import { parseJson } from './files.js';
import { type PackageSpec, parseSpec } from './spec.js';

const line = (most: number) =>
  z
    .string()
    .min(1)
    .max(most)
    .regex(/^[^\p{Cc}]*$/u, 'one line, without control characters');

/** A registry file: a list of plugins that anyone can host. docs/authors/registry-file.md describes it for authors. */
export const registryFileSchema = z.strictObject({
  $schema: z.string().optional(),
  format: z.literal(1).describe('Of this very layout'),
  name: line(80).describe('What the list is called'),
  plugins: z
    .array(
      z.strictObject({
        id: z
          .string()
          .regex(/^[a-z][a-z0-9-]{0,31}$/)
          .describe('As in the manifest of the plugin'),
        description: line(300),
        author: line(100).optional(),
        homepage: z.url({ protocol: /^https$/ }).optional(),
        versions: z
          .array(
            z.strictObject({
              version: z.string().refine((text) => valid(text) !== null, 'a semantic version'),
              spec: line(500).describe(
                'An npm package with its version (name@1.2.3), or the https address of a tarball; relative to the registry file',
              ),
              integrity: z
                .string()
                .regex(/^sha512-[A-Za-z0-9+/=]{88}$/)
                .describe('Of the tarball'),
            }),
          )
          .min(1)
          .max(500),
      }),
    )
    .max(10_000),
});
type RegistryFile = z.output<typeof registryFileSchema>;
type Listed = RegistryFile['plugins'][number];

const MOST_BYTES = 10_000_000;

/** A version that a registry file lists. */
export interface RegistryMatch {
  readonly id: string;
  readonly version: string;
  readonly spec: PackageSpec;
  readonly integrity: string;
  readonly registry: string;
}

export interface Registries {
  /** The newest listed version, or the newest in a range; `undefined` when no registry file lists the id. The first file that lists it is used. */
  find(id: string, range: string): Promise<RegistryMatch | undefined>;
  search(words: string): Promise<{ readonly found: readonly ListedPlugin[]; readonly problems: readonly string[] }>;
}

/** Reads the configured registry files, each time anew. @param places https addresses, or paths from `root` */
export function createRegistries(places: readonly string[], root: string, downloads: Downloads): Registries {
  const open = async (place: string): Promise<RegistryFile> => {
    const text = isAddress(place)
      ? await downloads.text(new URL(place), { mostBytes: MOST_BYTES })
      : await readFile(pathOf(place, root), 'utf8').catch((cause: unknown) => {
          throw new UserError(t('The registry file {place} cannot be read.', { place }), { cause });
        });
    const parsed = registryFileSchema.safeParse(parseJson(text));
    if (parsed.success) return parsed.data;
    const [issue] = parsed.error.issues;
    throw new UserError(
      t('The registry file {place} is not right at {key}: {detail}', {
        place,
        key: issue?.path.join('.') || '.',
        detail: issue?.message ?? '',
      }),
    );
  };
  return {
    async find(id, range) {
      for (const place of places) {
        const listed = (await open(place)).plugins.find((one) => one.id === id);
        if (listed === undefined) continue;
        const version = choose(listed, range);
        if (version === undefined)
          throw new UserError(
            t('{registry} lists no version {range} of {plugin}.', { registry: place, range, plugin: id }),
          );
        return {
          id,
          version: version.version,
          integrity: version.integrity,
          registry: place,
          spec: specOf(version.spec, place, root),
        };
      }
      return undefined;
    },
    async search(words) {
      const wanted = words
        .toLowerCase()
        .split(/\s+/)
        .filter((word) => word !== '');
      const files = await Promise.allSettled(places.map(open));
      const seen = new Set<string>();
      const found = files.flatMap((file, at) => {
        if (file.status === 'rejected') return [];
        return file.value.plugins.flatMap((listed) => {
          const text = `${listed.id} ${listed.description}`.toLowerCase();
          const newest = choose(listed, '');
          if (newest === undefined || seen.has(listed.id) || !wanted.every((word) => text.includes(word))) return [];
          seen.add(listed.id);
          return [
            { id: listed.id, version: newest.version, description: listed.description, registry: places[at] ?? '' },
          ];
        });
      });
      const problems = files.flatMap((file) =>
        file.status === 'rejected' ? [operatorSentenceOf(file.reason) ?? String(file.reason)] : [],
      );
      return { found, problems };
    },
  };
}

export const isAddress = (place: string): boolean => /^https?:/i.test(place) && URL.canParse(place);

const pathOf = (place: string, root: string) => (isAbsolute(place) ? place : join(root, place));

/** Chooses a version. Prefers releases to pre-releases, unless the range names one. */
function choose({ versions }: Listed, range: string): Listed['versions'][number] | undefined {
  const all = versions.map(({ version }) => version);
  const version =
    maxSatisfying(all, range === '' || range === 'latest' ? '*' : range) ??
    (range === '' ? [...all].sort(compare).at(-1) : undefined);
  return versions.find((one) => one.version === version);
}

/** Parses the place of a plugin in a registry file: an npm package, the address of a tarball, or a path from the file. @throws UserError for any other place */
function specOf(text: string, place: string, root: string): PackageSpec {
  const isRelative = /^\.{1,2}\//.test(text);
  const spec: PackageSpec = isRelative
    ? isAddress(place)
      ? { kind: 'url', url: new URL(text, place) }
      : { kind: 'path', path: join(pathOf(place, root), '..', text) }
    : parseSpec(text, root);
  const isAllowed = spec.kind === 'url' || spec.kind === 'npm' || (spec.kind === 'path' && isRelative);
  if (!isAllowed)
    throw new UserError(
      t('{registry} lists {spec}, which is neither an npm package nor the address of a tarball.', {
        registry: place,
        spec: text,
      }),
    );
  return spec;
}
