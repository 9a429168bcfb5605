import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type PersonalData, replaceFile } from '@cinnabar/sdk';

/** Below the data: what became of each thing of Red's. */
export const REPORT = 'import-red.txt';

/** The lines of the report of an import that name a member: they go when the member asks to be forgotten. */
export function personalReport(dataDir: string): PersonalData {
  const file = join(dataDir, REPORT);
  const lines = async (): Promise<readonly string[]> => {
    try {
      return (await readFile(file, 'utf8')).split('\n');
    } catch (error) {
      if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return [];
      throw error;
    }
  };
  const names = (line: string, userId: string) => line.split(/\D+/).includes(userId);
  return {
    async export(userId) {
      const theirs = (await lines()).filter((line) => names(line, userId)).map((line) => line.trim());
      return theirs.length === 0 ? {} : { lines: theirs };
    },
    async forget(userId) {
      const all = await lines();
      const rest = all.filter((line) => !names(line, userId));
      if (rest.length < all.length) await replaceFile(file, rest.join('\n'));
    },
  };
}
