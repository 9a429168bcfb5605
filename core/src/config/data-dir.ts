import { accessSync, constants, mkdirSync } from 'node:fs';
import { CinnabarError } from '@cinnabar/sdk';

/**
 * Makes the folder for data, if need be, and makes sure that one can write there: better said at the start than with the first message.
 * @throws CinnabarError CINNABAR_CONFIG_INVALID
 */
export function openDataDir(path: string): void {
  try {
    mkdirSync(path, { recursive: true, mode: 0o700 });
    accessSync(path, constants.R_OK | constants.W_OK | constants.X_OK);
  } catch (error) {
    const because = error instanceof Error ? error.message : String(error);
    const detail = `CINNABAR_DATA must be a folder that can be written, but ${path} cannot be used: ${because}`;
    throw new CinnabarError('CINNABAR_CONFIG_INVALID', { detail }, { cause: error });
  }
}
