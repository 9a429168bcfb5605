import { defineToken } from './token.js';

/** One backup in a folder of backups. */
export interface BackupFile {
  /** `cinnabar-20261122T231500123Z.tar.gz` */
  readonly name: string;
  /** In milliseconds since 1970. */
  readonly createdAt: number;
  /** Whether it was made on schedule: only such ones are ever pruned. */
  readonly scheduled: boolean;
  readonly bytes: number;
}

/** A backup that has been read from its first byte to its last. */
export interface VerifiedBackup extends BackupFile {
  readonly files: number;
  readonly withSecrets: boolean;
  /** Settings that were left out because they are secret: `llm: vendors`. */
  readonly leftOut: readonly string[];
  /** Version of the host that made it. */
  readonly host: string;
}

export interface BackupRequest {
  /** Relative to the folder that the bot was started in; by default the folder `backups` of the bot's data. */
  readonly folder?: string | undefined;
  /** Without it, secret settings and stored secrets are left out. */
  readonly withSecrets?: boolean;
  readonly scheduled?: boolean;
  /** Hears of bytes read, and how many there are in all. */
  readonly onProgress?: (done: number, total: number) => void;
}

/**
 * Backups of the bot's data while it runs. Each is what a power cut at one moment would have left, in one file with checksums that has been read
 * back before it counts. One at a time.
 */
export interface Backups {
  /** @throws UserError for a folder that cannot be one of backups */
  create(request?: BackupRequest): Promise<VerifiedBackup>;
  /** This bot's backups, the newest first. */
  list(folder?: string): Promise<readonly BackupFile[]>;
  /** @throws UserError that says what is wrong with it, or that there is none of that name */
  verify(name: string, folder?: string): Promise<VerifiedBackup>;
  /** Removes this bot's oldest scheduled backups until `keep` are left; others stay. @returns the names of those removed */
  prune(keep: number, folder?: string): Promise<readonly string[]>;
}
export const Backups = defineToken<Backups>('cinnabar.backups');
