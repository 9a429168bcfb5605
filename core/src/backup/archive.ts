import { createHash } from 'node:crypto';
import { createReadStream, createWriteStream } from 'node:fs';
import { open, rename, rm, stat } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createGunzip, createGzip } from 'node:zlib';
import { makeFolder, syncFolder, t, UserError, visible, z } from '@cinnabar/sdk';
import type { ReadEntry } from 'tar';
import { pathProblem, pathsProblem } from '../storage/paths.js';

/** Format version: an archive with a higher number is refused. */
const FORMAT = 1;
const MANIFEST = 'manifest.json';
/** Maximum size of the manifest: some 400,000 files. */
const MOST_MANIFEST_BYTES = 64 * 1024 * 1024;
const BLOCK = 512;

/** Loaded with the first backup, since a start does not need it. */
const loadTar = () => import('tar');
type Tar = Awaited<ReturnType<typeof loadTar>>;

/** Lines that are printed when the archive is inspected. */
const words = z
  .string()
  .max(300)
  .regex(/^[^\p{Cc}\p{Cf}]*$/u);

const fileSchema = z.object({
  path: z.string().superRefine((path, ctx) => {
    const problem = pathProblem(path);
    if (problem !== undefined) ctx.addIssue({ code: 'custom', message: problem });
  }),
  size: z.int().min(0),
  sha256: z.string().regex(/^[0-9a-f]{64}$/),
});

/** Metadata of a backup: the first entry of its archive. */
const manifestSchema = z.object({
  program: z.literal('cinnabar'),
  format: z.literal(FORMAT),
  /** Version of the host that made the backup. */
  host: words,
  /** In milliseconds since 1970. */
  createdAt: z.number(),
  /** The bot's name as chosen by `--bot`; `null` when none was. */
  bot: words.nullable(),
  withSecrets: z.boolean(),
  /** Settings that were left out because they are secret: `llm: vendors`. */
  leftOut: z.array(words),
  plugins: z.array(z.object({ id: words, version: words })),
  files: z.array(fileSchema).superRefine((files, ctx) => {
    const problem = pathsProblem(files.map(({ path }) => path));
    if (problem !== undefined) ctx.addIssue({ code: 'custom', message: problem });
  }),
});
export type Manifest = z.output<typeof manifestSchema>;
type ManifestFile = Manifest['files'][number];

/** A file that goes into an archive: its first `size` bytes. */
export interface ArchivedFile {
  /** Below the folder of data, with slashes. */
  readonly path: string;
  /** Where it can be read. */
  readonly source: string;
  readonly size: number;
}

/** Called as bytes are read, with how many there are in all. Must not throw. */
export type OnProgress = (done: number, total: number) => void;

/**
 * Writes an archive: a gzipped tar with the manifest first. It is read back in full before it replaces an existing file: after any failure the file is either
 * the one that was there before, or a complete new one.
 */
export async function writeArchive(
  file: string,
  files: readonly ArchivedFile[],
  about: Omit<Manifest, 'program' | 'format' | 'files'>,
  onProgress: OnProgress = () => undefined,
): Promise<Manifest> {
  const path = resolve(file);
  const fresh = `${path}.new`;
  // Read three times: for its checksums, into the archive, and out of it again.
  const total = 3 * files.reduce((sum, { size }) => sum + size, 0);
  let done = 0;
  const count = (bytes: number) => {
    done += bytes;
    onProgress(done, total);
  };
  const listed: ManifestFile[] = [];
  for (const { path, source, size } of files) listed.push({ path, size, sha256: await sha256Of(source, size, count) });
  const manifest: Manifest = { program: 'cinnabar', format: FORMAT, ...about, files: listed };
  await makeFolder(dirname(path));
  // Left by a process that died, or placed there by another user so that this process writes through it.
  await rm(fresh, { force: true });
  try {
    const entries = tarOf(manifest, files, count);
    await pipeline(Readable.from(entries), createGzip(), createWriteStream(fresh, { mode: 0o600, flags: 'wx' }));
    const handle = await open(fresh, 'r+');
    await handle.sync().finally(() => handle.close());
    await readArchive(fresh, { onProgress: (read) => onProgress((2 * total) / 3 + read, total) });
    await rename(fresh, path);
  } catch (error) {
    await rm(fresh, { force: true });
    throw error;
  }
  await syncFolder(dirname(path));
  return manifest;
}

async function sha256Of(file: string, size: number, count: (bytes: number) => void): Promise<string> {
  const hash = createHash('sha256');
  for await (const chunk of contentOf(file, size)) {
    hash.update(chunk);
    count(chunk.length);
  }
  return hash.digest('hex');
}

/** The first `size` bytes of a file. @throws when there are fewer */
async function* contentOf(file: string, size: number): AsyncGenerator<Buffer> {
  let left = size;
  if (size > 0) {
    for await (const chunk of createReadStream(file, { end: size - 1 })) {
      const bytes: Buffer = chunk;
      left -= bytes.length;
      yield bytes;
    }
  }
  if (left !== 0) throw new Error(`${file} became shorter while it was backed up`);
}

async function* tarOf(
  manifest: Manifest,
  files: readonly ArchivedFile[],
  count: (bytes: number) => void,
): AsyncGenerator<Buffer> {
  const tar = await loadTar();
  const mtime = new Date(manifest.createdAt);
  const text = Buffer.from(`${JSON.stringify(manifest)}\n`);
  yield* headerOf(tar, MANIFEST, text.length, mtime);
  yield text;
  yield padding(text.length);
  for (const { path, source, size } of files) {
    yield* headerOf(tar, path, size, mtime);
    for await (const chunk of contentOf(source, size)) {
      count(chunk.length);
      yield chunk;
    }
    yield padding(size);
  }
  yield Buffer.alloc(2 * BLOCK);
}

function* headerOf({ Header, Pax }: Tar, path: string, size: number, mtime: Date): Generator<Buffer> {
  const header = new Header({ path, size, mtime, type: 'File', mode: 0o600 });
  const block = Buffer.alloc(BLOCK);
  header.encode(block, 0);
  // An extended header for entries that do not fit the plain one: a long path, a file of more than 8 GiB.
  if (header.needPax) yield new Pax({ path, size, mtime }).encode();
  yield block;
}

function padding(size: number): Buffer {
  return Buffer.alloc((BLOCK - (size % BLOCK)) % BLOCK);
}

interface ReadArchiveOptions {
  /** Called once the manifest is known and before any content is read. @throws to refuse it */
  readonly onManifest?: (manifest: Manifest) => void | Promise<void>;
  /** Receives the content of a file. The content is verified against the manifest when it has been read to its end. */
  readonly onFile?: (file: ManifestFile, content: AsyncIterable<Buffer>) => Promise<void>;
  readonly onProgress?: OnProgress;
}

/**
 * Reads an archive from its first byte to its last, and checks all of it against the manifest: the files, their order, sizes and checksums, and that there is
 * nothing else. Reads and keeps no more than the manifest announces.
 * @throws UserError about the first fault
 */
export async function readArchive(file: string, options: ReadArchiveOptions = {}): Promise<Manifest> {
  const { size } = await stat(file).catch((cause: unknown) => {
    throw new UserError(
      t('{file} cannot be read: {detail}', { file, detail: cause instanceof Error ? cause.message : String(cause) }),
      { cause },
    );
  });
  if (size === 0) throw damaged(t('it is empty'));
  const input = createReadStream(file);
  const unzipped = input.pipe(createGunzip());
  input.once('error', (error) => unzipped.destroy(error));
  const check = createChecker(options);
  try {
    await parse(unzipped, check);
    return check.end();
  } catch (error) {
    throw error instanceof UserError || !isOfFormat(error) ? error : damaged(wordsOf(error), error);
  } finally {
    input.destroy();
    unzipped.destroy();
  }
}

function damaged(detail: string, cause?: unknown): UserError {
  return new UserError(t('That is not a valid backup: {detail}.', { detail }), cause === undefined ? {} : { cause });
}

/** Errors of zlib and tar are about the content. */
function isOfFormat(error: unknown): boolean {
  if (!(error instanceof Error) || !('code' in error)) return false;
  return /^(?:Z_|TAR_)/.test(String(error.code)) || ('tarCode' in error && /^TAR_/.test(String(error.tarCode)));
}

function wordsOf(error: unknown): string {
  const message = error instanceof Error ? error.message : String(error);
  if (/unexpected end of file/.test(message)) return t('it ends too early');
  return /incorrect header check/.test(message) ? t('it is not a gzip file') : message;
}

/** Feeds a tar parser; one entry is worked on at a time. */
async function parse(tar: AsyncIterable<Buffer>, check: Checker): Promise<void> {
  const { Parser } = await loadTar();
  let work: Promise<void> = Promise.resolve();
  let failure: { readonly error: unknown } | undefined;
  const fail = (error: unknown) => {
    failure ??= { error };
  };
  let waiting: (() => void) | undefined;
  const go = () => waiting?.();
  const parser = new Parser({ strict: true, maxMetaEntrySize: 64 * 1024 });
  parser.on('entry', (entry: ReadEntry) => {
    work = work
      .then(() => (failure === undefined ? check.entry(entry) : undefined))
      .catch((error: unknown) => {
        fail(error);
        go();
      })
      // The parser continues when an entry has been read to its end.
      .finally(() => void entry.resume());
  });
  parser.on('ignoredEntry', () => fail(damaged(t('it has a part that is too large'))));
  parser.on('error', (error: unknown) => {
    fail(error);
    go();
  });
  parser.on('drain', go);
  let first = true;
  for await (const chunk of tar) {
    // The parser would decompress a nested gzip layer by itself, without a limit.
    if (first && !chunk.subarray(0, MANIFEST.length + 1).equals(Buffer.from(`${MANIFEST}\0`)))
      throw damaged(t('it does not begin with a list of its files'));
    first = false;
    const drained = new Promise<void>((resolve) => {
      waiting = resolve;
    });
    if (!parser.write(chunk) && failure === undefined) await drained;
    if (failure !== undefined) throw failure.error;
  }
  const ended = new Promise<void>((resolve) => {
    parser.on('end', resolve);
    waiting = resolve;
  });
  parser.end();
  await ended;
  await work;
  if (failure !== undefined) throw failure.error;
}

type Checker = ReturnType<typeof createChecker>;

function createChecker({ onManifest, onFile, onProgress = () => undefined }: ReadArchiveOptions) {
  let manifest: Manifest | undefined;
  let next = 0;
  let read = 0;
  let total = 0;

  const manifestIn = async (entry: ReadEntry) => {
    if (entry.size > MOST_MANIFEST_BYTES) throw damaged(t('its list of files is too large'));
    const chunks: Buffer[] = [];
    for await (const chunk of entry) chunks.push(chunk);
    manifest = manifestOf(Buffer.concat(chunks).toString('utf8'));
    total = manifest.files.reduce((sum, { size }) => sum + size, 0);
    await onManifest?.(manifest);
  };

  return {
    async entry(entry: ReadEntry): Promise<void> {
      if (entry.type !== 'File' && entry.type !== 'OldFile')
        throw damaged(t('{path} is not a plain file', { path: visible(entry.path) }));
      if (manifest === undefined) return manifestIn(entry);
      const file = manifest.files[next];
      next += 1;
      if (file === undefined) throw damaged(t('{path} is not in its list of files', { path: visible(entry.path) }));
      if (entry.path !== file.path)
        throw damaged(t('where {path} should be there is {found}', { path: file.path, found: visible(entry.path) }));
      if (entry.size !== file.size)
        throw damaged(t('{path} has another size than its list of files says', { path: file.path }));
      const hash = createHash('sha256');
      async function* content(): AsyncGenerator<Buffer> {
        for await (const chunk of entry) {
          hash.update(chunk);
          read += chunk.length;
          onProgress(read, total);
          yield chunk;
        }
      }
      const chunks = content();
      if (onFile !== undefined) await onFile(file, chunks);
      for await (const _ of chunks);
      if (hash.digest('hex') !== file.sha256)
        throw damaged(t('{path} is not what it was when it was backed up', { path: file.path }));
    },
    end(): Manifest {
      if (manifest === undefined) throw damaged(t('it does not begin with a list of its files'));
      const missing = manifest.files[next];
      if (missing !== undefined) throw damaged(t('{path} is missing', { path: missing.path }));
      return manifest;
    },
  };
}

const formatSchema = z.object({ program: z.string(), format: z.number() });

/** @throws UserError for a format that is newer, or no manifest at all */
function manifestOf(text: string): Manifest {
  let json: unknown;
  try {
    json = JSON.parse(text);
  } catch (cause) {
    throw damaged(t('its list of files cannot be read'), cause);
  }
  const format = formatSchema.safeParse(json);
  if (!format.success || format.data.program !== 'cinnabar') throw damaged(t('it was made by another program'));
  if (format.data.format > FORMAT)
    throw new UserError(t('This backup was made by a newer version of Cinnabar. Update this one first.'));
  const parsed = manifestSchema.safeParse(json);
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  throw damaged(
    t('its list of files is not right ({detail})', { detail: `${issue?.path.join('.')}: ${issue?.message}` }),
    parsed.error,
  );
}
