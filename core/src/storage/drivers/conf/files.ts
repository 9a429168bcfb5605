import type { Dirent } from 'node:fs';
import { access, copyFile, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';

async function unlessMissing<T, D>(operation: Promise<T>, otherwise: D): Promise<T | D> {
  try {
    return await operation;
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return otherwise;
    throw error;
  }
}

/** The bytes of a file, `undefined` when there is none. */
export function readIfThere(file: string): Promise<Buffer | undefined> {
  return unlessMissing(readFile(file), undefined);
}

/** What is in a folder; nothing when there is none. */
export function entriesOf(folder: string): Promise<readonly Dirent[]> {
  return unlessMissing(readdir(folder, { withFileTypes: true }), []);
}

/** Replaces a file so that a reader, or a crash, finds the old one or the new one. Not synced: for copies of what is synced elsewhere. */
export async function replaceFile(file: string, content: Uint8Array | string): Promise<void> {
  const fresh = `${file}.new`;
  await writeFile(fresh, content, { mode: 0o600 });
  await rename(fresh, file);
}

/** `wanted`, or the first of `wanted-2`, `wanted-3` … that does not exist. One process writes here, so it stays free until it is used. */
async function freeName(wanted: string): Promise<string> {
  let name = wanted;
  for (let attempt = 2; await exists(name); attempt += 1) name = `${wanted}-${attempt}`;
  return name;
}

async function exists(file: string): Promise<boolean> {
  return access(file).then(
    () => true,
    () => false,
  );
}

/** Renames without replacing another file: needs no room, so it works on a full disk. Returns the new name. */
export async function moveAside(file: string, wanted: string): Promise<string> {
  const name = await freeName(wanted);
  await rename(file, name);
  return name;
}

/** Copies without replacing another file. Returns the copy's name. */
export async function copyAside(file: string, wanted: string): Promise<string> {
  const name = await freeName(wanted);
  await copyFile(file, name);
  return name;
}

export async function removeIfThere(file: string): Promise<void> {
  await rm(file, { force: true });
}
