import { readdir, readFile, rm } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { copyToNew, removeFiles } from '@cinnabar/sdk';

/** Keeps a copy of what is damaged: it is about to be written anew without it. Returns where. */
export async function copyAside(path: string, now: number): Promise<string> {
  const copy = `${path}.corrupt-${new Date(now).toISOString().replaceAll(/[:.]/g, '')}`;
  // One of the same moment is of the same damage.
  await rm(copy, { force: true });
  await copyToNew(path, copy);
  return copy;
}

/** Deletes the file with all its copies. */
export async function removeAll(path: string): Promise<void> {
  await removeFiles(dirname(path), [basename(path), ...(await copiesOf(path))]);
}

/** Deletes the copies in which `text` stands. */
export async function removeCopiesWith(path: string, text: string): Promise<void> {
  const folder = dirname(path);
  const concerned: string[] = [];
  for (const name of await copiesOf(path)) {
    const content = await readFile(join(folder, name), 'utf8').catch(() => text);
    if (content.includes(text)) concerned.push(name);
  }
  await removeFiles(folder, concerned);
}

/** Names of the copies of a file, and of what a crash left of writing it anew. */
async function copiesOf(path: string): Promise<readonly string[]> {
  const names = await readdir(dirname(path)).catch(() => []);
  return names.filter((name) => name.startsWith(`${basename(path)}.`));
}
