import { mkdir, rm, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { DamagedDocument, encodeStored, type Stored, type StoredContents } from '../storage/driver.js';
import { documentFile, journalFileOf } from '../storage/drivers/file-driver.js';

const AT_ONCE = 32;

/**
 * Writes what a database holds into a folder, laid out as data in files are, so that a backup is the same whatever the bot's storage is. What cannot be
 * read as a document is left out, and so are copies that were put aside.
 */
export async function writeAsFiles(contents: StoredContents, folder: string): Promise<void> {
  const write = async (file: string, text: string) => {
    await mkdir(dirname(file), { recursive: true, mode: 0o700 });
    await writeFile(file, text, { mode: 0o600 });
  };
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const paths = await contents.list([]);
  for (let at = 0; at < paths.length; at += AT_ONCE)
    await Promise.all(
      paths.slice(at, at + AT_ONCE).map(async (path) => {
        const stored = await contents.read(path).catch(noneWhenDamaged);
        if (stored !== undefined) await write(documentFile(documentsIn(folder), path), encodeStored(stored));
      }),
    );
  for (const { path } of await contents.journals()) {
    const journal = contents.journal(path);
    await write(journalFileOf(folder, path), await journal.read());
  }
}

function noneWhenDamaged(error: unknown): Stored | undefined {
  if (error instanceof DamagedDocument) return undefined;
  throw error;
}

const DOCUMENTS = 'documents';
/** Where documents are below a folder of data. */
export const documentsIn = (folder: string): string => `${folder}/${DOCUMENTS}`;

/** Whether a file of the data is a document or a journal, which a database holds where there is one. */
export function isStored(path: string): boolean {
  return path.startsWith(`${DOCUMENTS}/`) || /\/[^/]+\.jsonl(?:\.|$)/.test(path);
}

/** Removes documents and journals from data in files: a database holds them. */
export async function removeStored(folder: string, paths: readonly string[]): Promise<void> {
  for (const path of paths) if (isStored(path)) await rm(`${folder}/${path}`, { force: true });
  await rm(documentsIn(folder), { recursive: true, force: true });
}
