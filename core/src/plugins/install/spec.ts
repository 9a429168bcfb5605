import { homedir } from 'node:os';
import { isAbsolute, join, resolve } from 'node:path';
import { t, UserError } from '@cinnabar/sdk';

/** Where a plugin can be downloaded from. */
export type PackageSpec =
  /** `range` is a version, a range or a tag; empty for `latest`. */
  | { readonly kind: 'npm'; readonly name: string; readonly range: string }
  | { readonly kind: 'url'; readonly url: URL }
  | { readonly kind: 'git'; readonly url: string; readonly ref: string | undefined }
  /** A folder, or a tarball. */
  | { readonly kind: 'path'; readonly path: string };

const NPM = /^((?:@[a-z0-9~-][a-z0-9._~-]*\/)?[a-z0-9~-][a-z0-9._~-]*)(?:@(.{1,200}))?$/;
const RANGE = /^[\w.^~<>=|*+\s-]+$/;
const GIT = /^git(?:\+(?:https|ssh|file))?:|^git@|\.git(?:#|$)/;
/** `github:owner/repository`, in npm's notation. */
const HOSTED = /^(github|gitlab|bitbucket):([\w.-]+\/[\w.-]+?)(?:\.git)?(#.+)?$/;
const HOSTS: Readonly<Record<string, string>> = {
  github: 'https://github.com/',
  gitlab: 'https://gitlab.com/',
  bitbucket: 'https://bitbucket.org/',
};

/**
 * Parses the place of a plugin as it was typed.
 * @param root relative paths start there
 * @throws UserError
 */
export function parseSpec(text: string, root: string): PackageSpec {
  const spec = text.trim();
  const [, host = '', repository = '', hash = ''] = HOSTED.exec(spec) ?? [];
  if (host !== '') return gitSpec(`${HOSTS[host]}${repository}.git${hash}`);
  if (GIT.test(spec)) return gitSpec(spec.replace(/^git\+/, ''));
  if (/^https?:/i.test(spec)) {
    if (URL.canParse(spec)) return { kind: 'url', url: new URL(spec) };
    throw new UserError(t('{spec} is not an address.', { spec }));
  }
  if (/^(?:file:|[./~]|[A-Za-z]:[\\/])/.test(spec) || /\.(?:tgz|tar\.gz)$/.test(spec)) {
    const path = spec.replace(/^file:(?:\/\/)?/, '').replace(/^~(?=\/|$)/, homedir());
    return { kind: 'path', path: isAbsolute(path) ? path : resolve(join(root, path)) };
  }
  const [, name, range = ''] = NPM.exec(spec) ?? [];
  if (name !== undefined && (range === '' || RANGE.test(range))) return { kind: 'npm', name, range };
  throw new UserError(
    t(
      '{spec} is none of these: an npm package such as cinnabar-plugin-dice@^1.0.0, the address of a tarball, a git repository such as github:someone/dice, or a path such as ./dice.',
      { spec },
    ),
  );
}

function gitSpec(text: string): PackageSpec {
  const [url = '', ref] = text.split('#');
  const isKnown = /^(?:https|ssh|file):\/\/[^-]/.test(url) || /^git@[\w.-]+:[\w./-]+$/.test(url);
  if (!isKnown || (ref !== undefined && !/^[\w][\w./-]{0,200}$/.test(ref)))
    throw new UserError(
      t(
        '{spec} is not a git repository that is read: it is git+https://…, git+ssh://… or github:owner/name, with #branch behind it.',
        {
          spec: text,
        },
      ),
    );
  // A password is refused, since it would be stored, and shown with the plugin.
  if (URL.canParse(url) && new URL(url).password !== '')
    throw new UserError(t('Addresses with a user name or password are not fetched.'));
  return { kind: 'git', url, ref };
}

/** The notation in which a spec is stored, and can be typed again. */
export function specText(spec: PackageSpec): string {
  switch (spec.kind) {
    case 'npm':
      return spec.range === '' ? spec.name : `${spec.name}@${spec.range}`;
    case 'url':
      return spec.url.href;
    case 'git':
      return `${spec.url.startsWith('git@') ? '' : 'git+'}${spec.url}${spec.ref === undefined ? '' : `#${spec.ref}`}`;
    case 'path':
      return spec.path;
  }
}
