import { constants, copyFile, link, mkdir, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { dirname, join, relative, sep } from 'node:path';
import { t, takeSnapshot, UserError } from '@cinnabar/sdk';
import { isSecretName } from '../observability/log-entry.js';
import type { SecretKeys } from '../storage/catalog/fields.js';
import { DamagedDocument, encodeStored, type Stored, type StoredContents } from '../storage/driver.js';
import { decodeSegment, documentFile, journalFileOf } from '../storage/drivers/file-driver.js';
import { isData, isOfSecrets, isUnfinished, isWithin, placeIn } from '../storage/paths.js';
import type { ArchivedFile } from './archive.js';

/** A disk that hangs must not block all other writes for longer. */
const WAIT_FOR_WRITES_MS = 10_000;

/** A consistent view of the data at one moment. */
export interface Snapshot extends AsyncDisposable {
  readonly files: readonly ArchivedFile[];
  /** Settings that were left out because they are secret: `llm: vendors`. */
  readonly leftOut: readonly string[];
}

interface SnapshotOptions {
  readonly dataDir: string;
  /** Its folder below the data, for links to the files; removed at the end. */
  readonly workDir: string;
  /** Folders below the data that are not data: caches, logs, backups. */
  readonly excluded: readonly string[];
  /** Whether a file below the data belongs to them, by its path with slashes; all do by default. */
  readonly isIncluded?: (path: string) => boolean;
  readonly withSecrets: boolean;
  /** Which settings of each plugin are secret. */
  readonly secrets: ReadonlyMap<string, SecretKeys>;
}

/**
 * Takes a consistent snapshot while the bot runs: writes wait while every file gets a second hard link. A document is replaced, never changed, so the link
 * keeps its content. A journal only grows, so its length at that moment is recorded.
 */
export async function openSnapshot(options: SnapshotOptions): Promise<Snapshot> {
  const { dataDir, workDir, excluded, isIncluded = () => true, withSecrets, secrets } = options;
  const linked = join(workDir, 'files');
  const remove = () => rm(workDir, { recursive: true, force: true });
  await remove();
  await mkdir(linked, { recursive: true, mode: 0o700 });
  try {
    const found = await takeSnapshot(
      dataDir,
      async () => {
        const files = await filesBelow(dataDir, (path) => excluded.every((folder) => !isWithin(path, folder)));
        const copied: ArchivedFile[] = [];
        for (const path of files.filter(isIncluded))
          copied.push(await secondName(placeIn(dataDir, path), linked, path));
        return copied;
      },
      AbortSignal.timeout(WAIT_FOR_WRITES_MS),
    );
    if (withSecrets) return { files: found, leftOut: [], [Symbol.asyncDispose]: remove };
    const leftOut = new Set<string>();
    const files: ArchivedFile[] = [];
    for (const file of found) {
      // Includes a damaged document that was put aside.
      if (isOfSecrets(file.path)) continue;
      const kept = await withoutSecrets(file, secrets, leftOut, join(workDir, 'changed'));
      if (kept !== undefined) files.push(kept);
    }
    return { files, leftOut: [...leftOut].sort(), [Symbol.asyncDispose]: remove };
  } catch (error) {
    await remove();
    throw error;
  }
}

/** Paths of the data, with slashes, sorted. @throws UserError for what is neither a file nor a folder */
async function filesBelow(dataDir: string, isIncluded: (path: string) => boolean): Promise<readonly string[]> {
  const found: string[] = [];
  const folders = [dataDir];
  for (let folder = folders.pop(); folder !== undefined; folder = folders.pop()) {
    for (const entry of await readdir(folder, { withFileTypes: true })) {
      const path = join(folder, entry.name);
      if ((folder === dataDir && !isData(entry.name)) || isUnfinished(entry.name) || !isIncluded(path)) continue;
      if (entry.isDirectory()) folders.push(path);
      else if (entry.isFile()) found.push(relative(dataDir, path).split(sep).join('/'));
      else throw new UserError(t('{path} is neither a file nor a folder, and cannot be backed up.', { path }));
    }
  }
  return found.sort();
}

/** Hard links are not possible: another file system below the data, or one without links. */
const NO_LINKS = ['EXDEV', 'EPERM', 'ENOTSUP', 'ENOSYS', 'EMLINK', 'EINVAL'];

async function secondName(file: string, folder: string, path: string): Promise<ArchivedFile> {
  const source = placeIn(folder, path);
  await mkdir(dirname(source), { recursive: true, mode: 0o700 });
  try {
    await link(file, source);
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && NO_LINKS.includes(String(error.code)))) throw error;
    await copyFile(file, source, constants.COPYFILE_EXCL);
  }
  return { path, source, size: (await stat(source)).size };
}

/**
 * A settings document, or a copy of one, without its secret values. For a plugin that is not installed, keys with a name like `apiKey` count as secret.
 * @returns `undefined` for a document that cannot be read, since it may contain secrets
 */
async function withoutSecrets(
  file: ArchivedFile,
  secrets: ReadonlyMap<string, SecretKeys>,
  leftOut: Set<string>,
  folder: string,
): Promise<ArchivedFile | undefined> {
  const [top, pluginFolder = '', kind, scope = ''] = file.path.split('/');
  if (top !== 'documents' || kind !== 'settings') return file;
  const plugin = decodeSegment([pluginFolder]) ?? pluginFolder;
  const ofPlugin = secrets.get(plugin);
  const keys = ofPlugin === undefined ? undefined : new Set([...ofPlugin].find(([name]) => name === scope)?.[1] ?? []);
  if (keys?.size === 0) return file;
  const isSecret = (key: string, value: unknown) => (keys === undefined ? holdsSecret(key, value) : keys.has(key));
  const stored = settingsIn(await readFile(file.source, 'utf8'));
  if (stored === undefined) {
    leftOut.add(`${plugin}: a damaged document`);
    return undefined;
  }
  const entries = Object.entries(stored.data);
  const kept = entries.filter(([key, value]) => !isSecret(key, value));
  if (kept.length === entries.length) return file;
  for (const [key] of entries) if (!kept.some(([one]) => one === key)) leftOut.add(`${plugin}: ${key}`);
  const text = `${JSON.stringify({ ...stored, data: Object.fromEntries(kept) }, undefined, 2)}\n`;
  const source = placeIn(folder, file.path);
  await mkdir(dirname(source), { recursive: true, mode: 0o700 });
  await writeFile(source, text, { mode: 0o600 });
  return { path: file.path, source, size: Buffer.byteLength(text) };
}

function settingsIn(text: string): { readonly data: object } | undefined {
  try {
    const stored: unknown = JSON.parse(text);
    if (typeof stored !== 'object' || stored === null || !('data' in stored)) return undefined;
    const { data } = stored;
    return typeof data === 'object' && data !== null ? { ...stored, data } : undefined;
  } catch {
    return undefined;
  }
}

function holdsSecret(key: string, value: unknown): boolean {
  if (isSecretName(key)) return true;
  if (typeof value !== 'object' || value === null) return false;
  return Object.entries(value).some(([name, inner]) => holdsSecret(name, inner));
}

const AT_ONCE = 32;

/**
 * Writes the content of a database into a folder, in the layout of data in files, so that a backup has the same form for every kind of storage. Leaves out
 * documents that cannot be read, and copies that were put aside.
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

/** Whether a file of the data is a document or a journal, which a database holds when one is configured. */
export function isStored(path: string): boolean {
  return path.startsWith(`${DOCUMENTS}/`) || /\/[^/]+\.jsonl(?:\.|$)/.test(path);
}

/** Removes documents and journals from data in files, after they were moved to a database. */
export async function removeStored(folder: string, paths: readonly string[]): Promise<void> {
  for (const path of paths) if (isStored(path)) await rm(`${folder}/${path}`, { force: true });
  await rm(documentsIn(folder), { recursive: true, force: true });
}
