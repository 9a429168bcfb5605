import { t, UserError } from '@cinnabar/sdk';

/** How much more a plugin may take, with all its dependencies. What is unpacked is taken off. */
export interface Room {
  readonly mostBytes: number;
  bytes: number;
  files: number;
}

/** Enough for any plugin, and few enough for a folder of data. */
export const MOST_FILES = 50_000;

export const createRoom = (mostBytes: number): Room => ({ mostBytes, bytes: mostBytes, files: MOST_FILES });

export function tooLarge(what: string, mostBytes: number): UserError {
  return new UserError(
    t(
      '{what} is larger than {megabytes} MB, the most that a plugin may take (`host.plugins.megabytes` of the configuration).',
      {
        what,
        megabytes: Math.round(mostBytes / 1e6),
      },
    ),
  );
}
