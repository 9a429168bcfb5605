import { join, resolve, sep } from 'node:path';
import { t } from '@cinnabar/sdk';

/**
 * Folders and files of a data folder that are not data: the lock, caches, data of other bots, backups, and a configuration that someone has placed there, whose
 * files may contain secrets.
 */
const NO_DATA = ['lock', 'logs', 'cache', 'plugins', 'bots', 'backups', 'config'];
/** A file being written, by the SDK, by conf, or as a draft of the lock. */
const UNFINISHED = /\.new$|\.json\.tmp-[0-9a-f]+$/;
/** Prefix of the working folders of backups. */
export const WORK = '.';
/** Prefix of the folder with the data that a restore has replaced. */
export const KEPT_ASIDE = 'before-restore-';
/** Values of secret variables that were set from Discord. */
export const SECRETS_FILE = 'secrets.json';

/** The path of the documents with such values in a cluster, encrypted, in the storage and in files. */
export const ENCRYPTED_SECRETS: readonly string[] = ['@host', 'collections', 'global', 'secrets'];
const ENCRYPTED_FILES = 'documents/%40host/collections/global/secrets/';

/** Whether a file of the data contains only secrets. */
export function isOfSecrets(path: string): boolean {
  return path === SECRETS_FILE || path.startsWith(`${SECRETS_FILE}.`) || path.startsWith(ENCRYPTED_FILES);
}

/** Whether an entry directly below the data folder belongs in a backup. */
export function isData(name: string): boolean {
  return (
    !NO_DATA.includes(name) &&
    !name.startsWith('lock.') &&
    !name.startsWith(WORK) &&
    !name.startsWith(KEPT_ASIDE) &&
    !UNFINISHED.test(name)
  );
}

export function isUnfinished(name: string): boolean {
  return UNFINISHED.test(name);
}

/** Whether a path is a folder, or below it. */
export function isWithin(path: string, folder: string): boolean {
  const [inner, outer] = [resolve(path), resolve(folder)];
  return inner === outer || inner.startsWith(outer.endsWith(sep) ? outer : `${outer}${sep}`);
}

const MOST_PATH_BYTES = 1_000;
const MOST_NAME_BYTES = 255;

/** The problem with a path in an archive, as a clause: on every system it has to be below the data folder, and among the data. */
export function pathProblem(path: string): string | undefined {
  const names = path.split('/');
  const isPlain = names.every((name) => name !== '' && name !== '.' && name !== '..');
  // `:` names a drive or a stream on Windows, and `\` is its second path separator.
  if (!isPlain || /[\\:\p{Cc}]|\p{Surrogate}/u.test(path))
    return t('{path} is no path below the data', { path: JSON.stringify(path) });
  if (Buffer.byteLength(path) > MOST_PATH_BYTES || names.some((name) => Buffer.byteLength(name) > MOST_NAME_BYTES))
    return t('{path} is too long', { path: `${JSON.stringify(path.slice(0, 60))}…` });
  return isData(names[0] ?? '') ? undefined : t('{path} is no data', { path: JSON.stringify(path) });
}

/** The problem with the paths of an archive together: two that a file system could treat as the same, or a file that is also a folder. */
export function pathsProblem(paths: readonly string[]): string | undefined {
  const files = new Set<string>();
  for (const path of paths) {
    const folded = path.normalize('NFC').toLowerCase();
    if (files.has(folded)) return t('{path} is there twice', { path: JSON.stringify(path) });
    files.add(folded);
  }
  for (const folded of files) {
    for (let at = folded.indexOf('/'); at !== -1; at = folded.indexOf('/', at + 1)) {
      if (files.has(folded.slice(0, at)))
        return t('{path} is a file and a folder', { path: JSON.stringify(folded.slice(0, at)) });
    }
  }
  return undefined;
}

/** Where a file of an archive belongs. */
export function placeIn(folder: string, path: string): string {
  return join(folder, ...path.split('/'));
}
