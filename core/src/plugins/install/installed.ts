import { mkdir, readdir, readFile, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { CinnabarError, makeFolder, replaceFile, syncFolder, z } from '@cinnabar/sdk';
import { measure, parseJson } from './files.js';

/**
 * `<data>/plugins`: `installed.json` lists the plugins and the folder of each, `ID/VERSION-DIGEST`. A folder is complete before it gets this name, and is used
 * once the document names it. A process that is killed at any moment leaves either the old version or the new one, and possibly an unused folder, which the
 * next change removes.
 */

const DOCUMENT = 'installed.json';
/** The folder in which packages are downloaded and read. */
const WORK = '.work';

const integrity = z.string().regex(/^sha512-[A-Za-z0-9+/=]{88}$/);
const declared = z.object({
  intents: z.array(z.string()),
  permissions: z.array(z.string()),
  hosts: z.array(z.string()),
  env: z.array(z.string()),
  injects: z.array(z.string()),
  tools: z.array(z.object({ name: z.string(), risk: z.enum(['read', 'write', 'destructive']) })),
});
const entrySchema = z.object({
  packageName: z.string(),
  version: z.string(),
  /** The spec that updates are resolved from. */
  spec: z.string(),
  /** The registry file that listed the plugin, if any: a package with the same name on npm may be another author's. */
  registry: z.string().optional(),
  pinned: z.boolean(),
  /** Integrity of the download. */
  integrity,
  /** Integrity of all installed files, including those of dependencies. */
  content: integrity,
  folder: z.string().regex(/^[a-z][a-z0-9-]{0,31}\/[\w.+-]{1,120}$/),
  /** The declaration that the owner has agreed to. */
  granted: declared,
});
export type InstalledEntry = z.output<typeof entrySchema>;

const documentSchema = z.object({
  format: z.literal(1),
  plugins: z.record(z.string().regex(/^[a-z][a-z0-9-]{0,31}$/), entrySchema),
  /** Integrity of every tarball that was ever installed, by `name@version`, to detect that a version has changed. */
  known: z.record(z.string(), integrity),
});
export type InstalledDocument = z.output<typeof documentSchema>;

/** Maximum number of such entries; the oldest are dropped. */
const MOST_KNOWN = 2_000;

interface InstalledStore {
  readonly root: string;
  /** @throws CINNABAR_PLUGIN_INVALID when it cannot be read */
  read(): Promise<InstalledDocument>;
  write(document: InstalledDocument): Promise<void>;
  folderOf(entry: Pick<InstalledEntry, 'folder'>): string;
  /** A new working folder. */
  workFolder(name: string): Promise<string>;
  /** Renames a complete folder to its final name. */
  place(from: string, folder: string): Promise<void>;
  /** Removes folders that the document does not name, except `kept`, and files that earlier processes have left. */
  sweep(kept?: { readonly folders?: readonly string[]; readonly work?: readonly string[] }): Promise<void>;
}

/** @param dataDir the bot's data folder */
export function createInstalledStore(dataDir: string): InstalledStore {
  const root = join(dataDir, 'plugins');
  const file = join(root, DOCUMENT);
  const read = async (): Promise<InstalledDocument> => {
    const text = await readFile(file, 'utf8').catch((error: NodeJS.ErrnoException) => {
      if (error.code === 'ENOENT') return undefined;
      throw new CinnabarError('CINNABAR_PLUGIN_INVALID', { place: file, detail: error.message }, { cause: error });
    });
    if (text === undefined) return { format: 1, plugins: {}, known: {} };
    const parsed = documentSchema.safeParse(parseJson(text));
    if (parsed.success) return parsed.data;
    const detail = `it is not what it should be at ${parsed.error.issues[0]?.path.join('.') || 'its beginning'}`;
    throw new CinnabarError('CINNABAR_PLUGIN_INVALID', { place: file, detail });
  };
  return {
    root,
    read,
    async write(document) {
      await makeFolder(root);
      const known = Object.fromEntries(Object.entries(document.known).slice(-MOST_KNOWN));
      await replaceFile(file, `${JSON.stringify({ ...document, known }, undefined, 2)}\n`);
    },
    folderOf: ({ folder }) => join(root, folder),
    async workFolder(name) {
      const folder = join(root, WORK, name);
      await mkdir(folder, { recursive: true, mode: 0o700 });
      return folder;
    },
    async place(from, folder) {
      const to = join(root, folder);
      await makeFolder(join(to, '..'));
      // Left by an earlier process that was killed before the document named it.
      await rm(to, { recursive: true, force: true });
      await rename(from, to);
      await syncFolder(join(to, '..'));
    },
    async sweep({ folders = [], work = [] } = {}) {
      const { plugins } = await read();
      const named = new Set([...Object.values(plugins).map(({ folder }) => folder), ...folders]);
      const below = async (name: string) =>
        (await readdir(join(root, name), { withFileTypes: true }).catch(() => [])).filter((entry) =>
          entry.isDirectory(),
        );
      for (const { name } of await below(WORK))
        if (!work.includes(name)) await rm(join(root, WORK, name), { recursive: true, force: true });
      for (const { name: id } of await below('.')) {
        if (id === WORK || !/^[a-z][a-z0-9-]{0,31}$/.test(id) || id === 'node_modules') continue;
        const versions = await below(id);
        // Only folders with a name that this module makes are removed.
        const ours = versions.filter(({ name }) => /-[0-9a-f]{12}$/.test(name));
        const gone = ours.filter(({ name }) => !named.has(`${id}/${name}`));
        for (const { name } of gone) await rm(join(root, id, name), { recursive: true, force: true });
        if (versions.length === gone.length && versions.length > 0)
          await rm(join(root, id), { recursive: true, force: true });
      }
    },
  };
}

/** Why an installed plugin's files cannot be used; `undefined` when they are unchanged since the installation. */
export async function problemOfFiles(
  store: InstalledStore,
  id: string,
  entry: InstalledEntry,
): Promise<CinnabarError | undefined> {
  const place = store.folderOf(entry);
  const fail = (detail: string, cause?: unknown) =>
    new CinnabarError('CINNABAR_PLUGIN_INVALID', { place, detail }, { cause });
  try {
    const { integrity: now } = await measure(place);
    if (now === entry.content) return undefined;
    return fail(
      `its files are not those that were installed; look who changed them, then "cinnabar plugin add ${entry.spec}"`,
    );
  } catch (error) {
    return fail(
      `the files of "${id}" cannot be read: ${error instanceof Error ? error.message : String(error)}`,
      error,
    );
  }
}

/** The folders of installed plugins whose files are unchanged. Never rejects. */
export async function findInstalled(dataDir: string): Promise<{
  readonly found: readonly { readonly id: string; readonly folder: string }[];
  readonly problems: readonly CinnabarError[];
}> {
  const store = createInstalledStore(dataDir);
  try {
    const { plugins } = await store.read();
    const looked = await Promise.all(
      Object.entries(plugins).map(async ([id, entry]) => ({
        id,
        folder: store.folderOf(entry),
        problem: await problemOfFiles(store, id, entry),
      })),
    );
    return {
      found: looked.filter(({ problem }) => problem === undefined),
      problems: looked.flatMap(({ problem }) => problem ?? []),
    };
  } catch (error) {
    const problem =
      error instanceof CinnabarError
        ? error
        : new CinnabarError('CINNABAR_PLUGIN_INVALID', { place: store.root, detail: String(error) });
    return { found: [], problems: [problem] };
  }
}
