import { mkdir, mkdtemp, realpath, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';

export interface Folder {
  /** The absolute path of a file in the folder. */
  at(...path: string[]): string;
  /** Writes files by their path inside the folder; objects as JSON. */
  write(files: Readonly<Record<string, string | object>>): Promise<void>;
}

/** A new folder for each test of a suite, removed after it. */
export function useFolder(): Folder {
  let root = '';
  beforeEach(async () => {
    root = await realpath(await mkdtemp(join(tmpdir(), 'cinnabar-')));
  });
  afterEach(() => rm(root, { recursive: true, force: true }));
  const at = (...path: string[]) => join(root, ...path);
  return {
    at,
    async write(files) {
      for (const [path, content] of Object.entries(files)) {
        await mkdir(dirname(at(path)), { recursive: true });
        await writeFile(at(path), typeof content === 'string' ? content : JSON.stringify(content));
      }
    },
  };
}
