import type { Dirent } from 'node:fs';
import { access, readdir, readFile } from 'node:fs/promises';
import { copyToNew, renameFile } from '@cinnabar/sdk';

async function unlessMissing<T, D>(operation: Promise<T>, otherwise: D): Promise<T | D> {
  try {
    return await operation;
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return otherwise;
    throw error;
  }
}

/** The bytes of a file, `undefined` when there is none. */
export async function readIfThere(file: string): Promise<Buffer | undefined> {
  try {
    return await unlessMissing(readFile(file), undefined);
  } catch (error) {
    // Node names no path when it is the reading that fails, as of a folder.
    if (error instanceof Error && !('path' in error)) Object.assign(error, { path: file });
    throw error;
  }
}

/** What is in a folder; nothing when there is none. */
export function entriesOf(folder: string): Promise<readonly Dirent[]> {
  return unlessMissing(readdir(folder, { withFileTypes: true }), []);
}

export async function isThere(file: string): Promise<boolean> {
  return access(file).then(
    () => true,
    () => false,
  );
}

/** `wanted`, or the first of `wanted-2`, `wanted-3` … that does not exist. One process writes here, so it stays free until it is used. */
async function freeName(wanted: string): Promise<string> {
  let name = wanted;
  for (let attempt = 2; await isThere(name); attempt += 1) name = `${wanted}-${attempt}`;
  return name;
}

/** Renames without replacing another file: needs no room, so it works on a full disk. Returns the new name. */
export async function moveAside(file: string, wanted: string): Promise<string> {
  const name = await freeName(wanted);
  await renameFile(file, name);
  return name;
}

/** Copies without replacing another file. Returns the copy's name. */
export async function copyAside(file: string, wanted: string): Promise<string> {
  const name = await freeName(wanted);
  await copyToNew(file, name);
  return name;
}
