import { readdirSync } from 'node:fs';

/** The folders and files directly below a folder that is somebody else's; links are left alone. Empty when there is no such folder. */
export function listing(folder: string): { readonly folders: readonly string[]; readonly files: readonly string[] } {
  try {
    const entries = readdirSync(folder, { withFileTypes: true }).sort((one, other) => (one.name < other.name ? -1 : 1));
    return {
      folders: entries.filter((entry) => entry.isDirectory()).map(({ name }) => name),
      files: entries.filter((entry) => entry.isFile()).map(({ name }) => name),
    };
  } catch {
    return { folders: [], files: [] };
  }
}
