import { z } from '@cinnabar/sdk';

const VERSION = /^(\d+)\.(\d+)\.(\d+)(?:-[\da-z.-]+)?$/;
const HEADING = '## Unreleased\n';

/** The reason why a release cannot have this version; `undefined` when it can. */
export function nextVersionProblem(current: string, next: string, changelog: string): string | undefined {
  if (!VERSION.test(next)) return `"${next}" is no version: it is written 1.2.3, or 1.2.3-beta.1.`;
  if (!isNewer(next, current)) return `${next} is not newer than ${current}.`;
  if (!changelog.includes(HEADING)) return 'CHANGELOG.md has no heading "## Unreleased".';
  if (unreleased(changelog) === '') return 'CHANGELOG.md says of nothing that has changed since the last release.';
  return undefined;
}

function isNewer(next: string, current: string): boolean {
  const numbers = (version: string) => (VERSION.exec(version)?.slice(1, 4) ?? []).map(Number);
  const [now, then] = [numbers(next), numbers(current)];
  const at = now.findIndex((number, index) => number !== then[index]);
  if (at >= 0) return (now[at] ?? 0) > (then[at] ?? 0);
  // A release may follow its own pre-releases.
  return next !== current && current.includes('-');
}

function unreleased(changelog: string): string {
  const [, rest = ''] = changelog.split(HEADING);
  return (rest.split(/^## /m)[0] ?? '').trim();
}

/** The changelog with the unreleased changes under the heading of a version. */
export function withHeading(changelog: string, version: string, at: Date): string {
  return changelog.replace(HEADING, () => `${HEADING}\n## ${version} (${at.toISOString().slice(0, 10)})\n`);
}

interface Step {
  readonly current: string;
  readonly next: string;
}

const manifestSchema = z.looseObject({ name: z.string(), version: z.string() });
/** The source of a plugin, or a page that shows one, with a host version that includes the next one, if it included the current one. */
export function withHost(source: string, { current, next }: Step): string {
  return source.replaceAll(`host: '^${current}'`, `host: '^${next}'`);
}

const GROUPS = ['dependencies', 'peerDependencies', 'devDependencies'];
const names = z.record(z.string(), z.string());

/**
 * The text of a package.json with the next version, unless the package has a separate version, as examples do, and with that version of the project's other
 * packages.
 * @param own names of the project's packages
 */
export function withVersion(text: string, own: readonly string[], { current, next }: Step): string {
  const manifest = manifestSchema.parse(JSON.parse(text));
  const groups = GROUPS.flatMap((group) => {
    const { success, data } = names.safeParse(manifest[group]);
    return success ? [[group, Object.fromEntries(Object.entries(data).map(moved))]] : [];
  });
  function moved([name, range]: [string, string]): [string, string] {
    const sign = range.startsWith('^') ? '^' : '';
    return [name, own.includes(name) ? `${sign}${next}` : range];
  }
  const changed = {
    ...manifest,
    version: manifest.version === current ? next : manifest.version,
    ...Object.fromEntries(groups),
  };
  return `${JSON.stringify(changed, null, 2)}\n`;
}
