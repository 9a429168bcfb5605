import { CinnabarError } from '../errors.js';
import { t, translated } from '../text/language.js';

/** Why a disk did not do what it was asked for, in words for those who run the bot. */
export interface DiskTrouble {
  /** As the system calls it: `ENOSPC`. */
  readonly code: string;
  /** A clause: `the disk is full`. */
  readonly words: string;
  /** What to do about it, as a sentence. */
  readonly remedy: string;
}

const RIGHTS = 'Give the user that runs the bot the right to read and write there.';
const HANDLES = 'Raise the limit of open files (`ulimit -n`, or `LimitNOFILE=` in the unit file) and restart.';
const TROUBLES: Readonly<Record<string, readonly [words: string, remedy: string]>> = {
  ENOSPC: ['the disk is full', 'Free some space.'],
  EDQUOT: ['the disk quota is used up', 'Free some space, or raise the quota.'],
  EIO: ['the disk reports an error', 'Look at the log of the system (`dmesg`) and replace the disk if need be.'],
  EROFS: ['the disk is read-only', 'Find out why (`dmesg`), and mount it writable again.'],
  EACCES: ['access is denied', RIGHTS],
  EPERM: ['access is denied', RIGHTS],
  EMFILE: ['too many files are open', HANDLES],
  ENFILE: ['too many files are open', HANDLES],
  EISDIR: ['a folder is in the place of a file', 'Move that folder away.'],
  ENOTDIR: ['a file is in the place of a folder', 'Move that file away.'],
  ENOENT: ['the folder is gone', 'Put it back, or restart the bot to begin without it.'],
  ELOCKED: ['another process has taken over the data', 'Stop one of the two, and restart the bot.'],
  ENODEV: ['the disk is gone', 'Attach it again and restart the bot.'],
  DATABASE_AWAY: ['the database does not answer', 'Start it: a bot that runs connects by itself.'],
  DATABASE_RIGHTS: [
    'the database denies access',
    'Give the user of the database the rights that docs/operators/postgresql.md lists.',
  ],
  DATABASE_FULL: ['the database has no room left', 'Free some space on the machine of the database.'],
  DATABASE_READ_ONLY: ['the database is read-only', 'Connect to the primary server, not to a replica.'],
  ESTALE: ['the network file system is gone', 'Mount it again and restart the bot.'],
};

/** What kept a disk from doing its work; `undefined` for an error that is not the disk's. */
export function diskTroubleOf(error: unknown): DiskTrouble | undefined {
  for (let at = error; at instanceof Error; at = at.cause) {
    if (!('code' in at) || typeof at.code !== 'string') continue;
    const [words, remedy] = TROUBLES[at.code] ?? [];
    if (words !== undefined && remedy !== undefined) return { code: at.code, words, remedy };
    if ('syscall' in at)
      return { code: at.code, words: t('the disk failed with {code}', { code: at.code }), remedy: t('See the log.') };
  }
  return undefined;
}

/** Why, and of which file, for those who run the bot. */
export function diskTroubleText(error: unknown): string {
  const trouble = diskTroubleOf(error);
  if (trouble === undefined) return error instanceof Error ? error.message : String(error);
  const path = error instanceof Error && 'path' in error && typeof error.path === 'string' ? `, ${error.path}` : '';
  return `${translated(trouble.words)} (${trouble.code}${path})`;
}

/** Thrown as they are. A write without the lease fails for another reason than the medium's, and for good. */
const FINAL = ['CINNABAR_STORAGE_WRITE', 'CINNABAR_LEASE_LOST'];

/** What a write that failed is thrown as: its message may be read by members, the rest is for the log. */
export function storageWriteError(document: string, cause: unknown): CinnabarError {
  if (cause instanceof CinnabarError && FINAL.includes(cause.code)) return cause;
  return new CinnabarError('CINNABAR_STORAGE_WRITE', { document, detail: diskTroubleText(cause) }, { cause });
}

/** The same for what could not be read. */
export function storageReadError(document: string, cause: unknown): CinnabarError {
  if (cause instanceof CinnabarError && cause.code === 'CINNABAR_STORAGE_READ') return cause;
  return new CinnabarError('CINNABAR_STORAGE_READ', { document, detail: diskTroubleText(cause) }, { cause });
}
