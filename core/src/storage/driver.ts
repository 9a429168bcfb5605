import { hostname } from 'node:os';
import {
  CinnabarError,
  type Clock,
  type CollectionScope,
  type DiskTrouble,
  diskTroubleOf,
  diskTroubleText,
  type HasId,
  type JournalEntry,
  type JournalMedium,
  type Logger,
  type MemberKey,
  type OwnerAlert,
  type SettingScope,
  storageReadError,
  storageWriteError,
  t,
  translated,
  type WriteWatch,
  z,
} from '@cinnabar/sdk';
import { LRUCache } from 'lru-cache';

/** The path of a document: `['party', 'collections', 'user', 'rosters', '42']`. Segments are free text; a driver encodes them. */
export type DocumentPath = readonly string[];

/** The stored form of a document: plain JSON with the version of its shape. */
export interface Stored {
  readonly version: number;
  readonly data: unknown;
  /** The server that a document belongs to, if its path and content do not name one; `null` for none. Passed with a write, and not part of the document. */
  readonly guildId?: string | null;
}

/** The documents in a list: those of the servers that the host serves, or all. Documents without a server belong to the first host. */
export type Whose = 'own' | 'all';

/**
 * The interface of a storage medium. Asynchronous, so that a database can implement it; callers serialise writes to one document.
 * Every driver passes the contract suite in `test/core/storage/driver-contract.ts`.
 */
export interface Driver {
  /** Prepares the medium, which the first use does otherwise. @throws CINNABAR_DATA_IN_USE when another process holds it */
  open?(): Promise<void>;
  /** `undefined` when there is none. @throws DamagedDocument when the stored data cannot be read as a document */
  read(path: DocumentPath): Promise<Stored | undefined>;
  /**
   * Resolves when the document is durable. After any failure or crash the document is either the old or the new one. When it rejects, it is the old one, unless
   * the medium failed completely: then only `read` shows which.
   */
  write(path: DocumentPath, stored: Stored): Promise<void>;
  /** Removes the document, but no copies that were put aside. */
  delete(path: DocumentPath): Promise<void>;
  /** Removes the document and every copy of it. */
  erase(path: DocumentPath): Promise<void>;
  /** The paths below `prefix` of all documents, and of documents of which only a put-aside copy exists. @param whose `own` by default */
  list(prefix: DocumentPath, whose?: Whose): Promise<readonly DocumentPath[]>;
  /**
   * Moves a damaged or invalid document aside without deleting it. The next `read` returns the last good copy when it differs, otherwise nothing, so that after
   * at most two calls there is a readable document or none. Returns the place of the moved document; `undefined` when there was none.
   */
  setAside(path: DocumentPath): Promise<string | undefined>;
  /** Keeps a copy of the present document, named after `label`. Returns the place of the copy. */
  keep(path: DocumentPath, label: string): Promise<string>;
  /**
   * An append-only journal, separate from the documents. It is opened at the first read or write. Only one may be open for a path.
   * @param guildId the server that it belongs to, when its path does not name one; `null` for none
   */
  journal(path: DocumentPath, guildId?: string | null): JournalMedium;
  /** All journals below `prefix` that are not empty, in the order of their paths. */
  journals(prefix?: DocumentPath): Promise<readonly JournalEntry[]>;
  /** Removes all journals of a plugin; none may be in use. */
  eraseJournals(plugin: string): Promise<void>;
  /**
   * Runs a task on a consistent view of all data of all servers. Only for a medium outside the data folder, whose files are backed up with the folder.
   */
  frozen?<T>(task: (contents: StoredContents) => Promise<T>): Promise<T>;
  /**
   * Replaces all data with the given contents, in one transaction; copies are removed, too. Only for a medium with `frozen`. Returns the names of documents
   * that could not be read and are missing.
   */
  replaceAll?(contents: StoredContents): Promise<readonly string[]>;
  /** Set for a medium that other processes write to as well. */
  readonly shared?: SharedDocuments;
  close(): Promise<void>;
}

/** The content of a medium, for reading. */
export type StoredContents = Pick<Driver, 'list' | 'read' | 'journals' | 'journal'>;

/** Documents that other processes change, too. Each version of one has a unique revision. */
export interface SharedDocuments {
  /** Like `Driver.read`, with the revision, which is `undefined` when nothing is stored. */
  read(path: DocumentPath): Promise<{ readonly stored: Stored | undefined; readonly revision: string | undefined }>;
  /**
   * Writes or removes a document if it has the given revision. Returns the new revision.
   * @throws OutdatedDocument when it has another revision: nothing has changed then
   */
  replace(path: DocumentPath, stored: Stored | undefined, revision: string | undefined): Promise<string | undefined>;
  /** The present revisions, in the order of the paths. */
  revisions(paths: readonly DocumentPath[]): Promise<readonly (string | undefined)[]>;
  /** The documents directly below some paths that may have changed while notifications were lost, without deletions. */
  missedBelow(prefixes: readonly DocumentPath[]): Promise<readonly DocumentChange[]>;
  listen(listener: SharedListener): () => void;
}

export interface SharedListener {
  /** Called for each change, including those of this process. */
  changed(change: DocumentChange): void;
  /** Called when changes may have been missed. While it rejects, it is called again. */
  missed(): Promise<void>;
}

export interface DocumentChange {
  readonly path: DocumentPath;
  /** `undefined` for a deleted document. */
  readonly revision: string | undefined;
  /** Whether the change was made through this driver. */
  readonly isEcho: boolean;
  /** Whether the document is among those that the driver lists as its own. */
  readonly isOwn: boolean;
}

/** Another process has changed the document since it was read. */
export class OutdatedDocument extends Error {
  constructor() {
    super('it was changed by another process meanwhile');
    this.name = 'OutdatedDocument';
  }
}

/** Data are stored, but they are not a document any more. */
export class DamagedDocument extends Error {
  constructor(detail: string, options?: ErrorOptions) {
    super(detail, options);
    this.name = 'DamagedDocument';
  }
}

const envelope = z.object({ version: z.int().min(1), data: z.unknown() });

/** The server that a document belongs to, `null` for none, according to its path and content: `undefined` when these name only a channel or role. */
export function guildOfDocument([, kind, scope, ...rest]: DocumentPath, stored: Stored): string | null | undefined {
  if (stored.guildId !== undefined) return stored.guildId;
  const key = rest.at(-1);
  if (key !== undefined && (kind === 'settings' || kind === 'collections')) {
    if (scope === 'guild') return key;
    if (scope === 'member') return key.split(':')[0] ?? null;
    if (scope === 'channel' || scope === 'role') return undefined;
  }
  return namedIn(stored.data) ?? null;
}

/** The server that a document names: that of its `actor`, when it does not name one itself. */
function namedIn(data: unknown): string | null | undefined {
  if (typeof data !== 'object' || data === null) return undefined;
  if ('guildId' in data) return typeof data.guildId === 'string' ? data.guildId : null;
  return 'actor' in data ? namedIn(data.actor) : undefined;
}

/** A stored document as readable text. Throws a TypeError when the data are not JSON. */
export function encodeStored(stored: Stored): string {
  return `${JSON.stringify({ version: stored.version, data: stored.data }, undefined, 2)}\n`;
}

/** @throws DamagedDocument when the text is not a stored document */
export function decodeStored(text: string): Stored {
  let json: unknown;
  try {
    json = JSON.parse(text);
  } catch (cause) {
    throw new DamagedDocument('it is not JSON', { cause });
  }
  const parsed = envelope.safeParse(json);
  if (!parsed.success || parsed.data.data === undefined) {
    throw new DamagedDocument('it has no version and data');
  }
  return { version: parsed.data.version, data: parsed.data.data };
}

/** The key of the one document of a plugin's global settings. */
const GLOBAL = 'global';

/** The path of a plugin's settings of a scope; `key` is required except for global ones. */
export function settingsPath(plugin: string, scope: SettingScope, key: string = GLOBAL): DocumentPath {
  return [plugin, 'settings', scope, key];
}

/** The path of a collection's documents. The scope is part of it, so that personal data can be found without the plugin. */
export function collectionPath(plugin: string, scope: string, name: string): DocumentPath {
  return [plugin, 'collections', scope, name];
}

const GUILD = /^\d{1,19}$/;

/**
 * The server that a journal belongs to according to its path, `null` for none: from the folder's name (a server, or direct messages), otherwise from the
 * journal's name. `undefined` when each host has such a journal, or its writer has to name the server.
 */
export function guildOfJournal([, folder = '', name = '', ...others]: DocumentPath): string | null | undefined {
  if (others.length > 0) return undefined;
  if (folder.startsWith('dm-')) return null;
  return [folder, name].find((one) => GUILD.test(one));
}

const JOURNAL_NAME = /^[a-z][a-z0-9-]{0,31}$/;

/** The path of a plugin's journal: a global one has the name of its group of journals. @throws CINNABAR_NAME_INVALID */
export function journalPath(plugin: string, name: string, guildId: string | null = null): DocumentPath {
  if (!JOURNAL_NAME.test(name)) {
    const detail = 'lower case letters, digits and -, at most 32';
    throw new CinnabarError('CINNABAR_NAME_INVALID', { kind: 'journal', name, detail });
  }
  return [plugin, name, guildId ?? name];
}

/** The owner of a document, from its path only. */
export interface Personal {
  readonly plugin: string;
  readonly kind: 'settings' | 'collections';
  /** Name of the collection, or the scope of the settings. */
  readonly name: string;
  /** For documents of a member: in which guild. */
  readonly guildId: string | undefined;
}

/** The user that a document belongs to according to its path; `undefined` unless its scope is `user` or `member`. */
export function ownerOf([, kind, scope, ...rest]: DocumentPath): string | undefined {
  const key = rest.at(-1);
  if (key === undefined || (kind !== 'settings' && kind !== 'collections')) return undefined;
  if (scope === 'user') return key;
  return scope === 'member' ? key.split(':')[1] : undefined;
}

/** The kind of a document that belongs to this user; `undefined` when it is not scoped to them. */
export function personalOf(path: DocumentPath, userId: string): Personal | undefined {
  const [plugin, kind, scope, ...rest] = path;
  const key = rest.at(-1);
  if (plugin === undefined || key === undefined || (kind !== 'settings' && kind !== 'collections')) return undefined;
  const name = kind === 'settings' ? scope : rest[0];
  if (name === undefined || rest.length !== (kind === 'settings' ? 1 : 2) || ownerOf(path) !== userId) return undefined;
  return { plugin, kind, name, guildId: scope === 'member' ? key.split(':')[0] : undefined };
}

/** The maximum length of a key in UTF-8 bytes, the same for every driver, so that a key that works on one works on all. */
const MAX_KEY_BYTES = 512;

function checked(key: string): string {
  const problem =
    key === ''
      ? 'it is empty'
      : Buffer.byteLength(key) > MAX_KEY_BYTES
        ? `it is longer than ${MAX_KEY_BYTES} bytes`
        : /\p{Surrogate}/u.test(key)
          ? 'it is not well-formed text'
          : undefined;
  if (problem === undefined) return key;
  return refuse(key.slice(0, 60), problem);
}

function refuse(name: string, detail: string): never {
  throw new CinnabarError('CINNABAR_NAME_INVALID', { kind: 'document', name, detail });
}

/** `guildId:userId`. */
function memberKey(guildId: string, userId: string): string {
  for (const id of [guildId, userId]) if (id === '' || id.includes(':')) refuse(id, 'it is not an id');
  return checked(`${guildId}:${userId}`);
}

/**
 * The key of a document. Its form depends on the scope, because a channel or a role has a guild just as a member does.
 * @throws CINNABAR_NAME_INVALID for a key that cannot be stored
 */
export function keyFor(scope: CollectionScope, of: HasId | MemberKey): string {
  if (scope === 'member') {
    if (typeof of === 'object' && 'userId' in of) return memberKey(of.guildId, of.userId);
    if (typeof of === 'object' && 'guild' in of) return memberKey(of.guild.id, of.id);
    return refuse(typeof of === 'string' ? of : of.id, 'a member is known by a guild and a user');
  }
  if (typeof of === 'string') return checked(of);
  return 'id' in of ? checked(of.id) : refuse(of.userId, `it is a member, not a ${scope}`);
}

/** The name of a path in errors and logs. */
export function nameOf(path: DocumentPath): string {
  return path.join('/').replaceAll(/[\p{Cc}\p{Cf}]/gu, '·');
}

/** The reason why nothing can be saved, and since when. */
interface DiskCondition extends DiskTrouble {
  /** In milliseconds since the Unix epoch. */
  readonly since: number;
}

/** Tracks whether the data can be written. */
export interface DiskWatch extends WriteWatch {
  /** Called after a file was deleted. Does not end the condition, since a deletion needs no space. */
  removed(file: string): void;
  /** `undefined` when the last write succeeded. A single blocked file does not count. */
  condition(): DiskCondition | undefined;
  /** Adds a check before each write. @param check throws when nothing may be written */
  guard(check: () => void): void;
  /** Called for a document that exists but cannot be read. */
  unreadable(error: unknown, document: string): void;
}

const FULL = ['ENOSPC', 'EDQUOT'];
/** Errors that block one file while others can be written. */
const OF_ONE_PLACE = ['EISDIR', 'ENOTDIR', 'EACCES', 'EPERM'];
/** Maximum number of remembered blocked files. */
const MOST_BLOCKED = 1_000;
/** Interval of reminders to the owners while the condition lasts. */
const REMIND_MS = 60 * 60_000;

export function createDiskWatch(options: {
  readonly clock: Clock;
  readonly log: Logger;
  readonly alert: (alert: OwnerAlert) => void;
}): DiskWatch {
  const { clock, log, alert } = options;
  const guards: (() => void)[] = [];
  let condition: DiskCondition | undefined;
  /** When the owners were last alerted about each file that cannot be written. */
  const blocked = new LRUCache<string, number>({ max: MOST_BLOCKED });
  let alertedAt = Number.NEGATIVE_INFINITY;
  let unreadableAt = Number.NEGATIVE_INFINITY;

  const remedyFor = ({ remedy }: DiskTrouble) =>
    t('{remedy} Every later change is tried again, so nothing else has to be done after that.', {
      remedy: translated(remedy),
    });

  const block = (trouble: DiskTrouble, file: string, error: unknown) => {
    const remindedAt = blocked.get(file);
    if (remindedAt === undefined) log.error(`a file cannot be saved: ${trouble.words}`, { file, error });
    if (remindedAt !== undefined && clock.now() - remindedAt < REMIND_MS) return;
    blocked.set(file, clock.now());
    const { words, code } = trouble;
    alert({
      kind: 'disk',
      text: () => t('I could not save {file}: {trouble} ({code}).', { file, trouble: translated(words), code }),
      remedy: () => remedyFor(trouble),
      reason: `${hostname()} ${code} ${file}`,
    });
  };
  const removed = (file: string) => {
    if (blocked.delete(file)) log.info('a file can be saved again', { file });
  };

  return {
    removed,
    condition: () => condition,
    guard: (check) => void guards.push(check),
    check() {
      for (const check of guards) check();
    },
    written(file) {
      removed(file);
      if (condition === undefined) return;
      log.info('data can be saved again', { code: condition.code });
      alertedAt = Number.NEGATIVE_INFINITY;
      condition = undefined;
      alert({
        kind: 'disk-recovered',
        text: () => t('I could save data again.'),
        remedy: () => t('Members who were told that something could not be saved have to do it again.'),
        reason: hostname(),
      });
    },
    failed(error, file) {
      const trouble = diskTroubleOf(error);
      if (trouble === undefined) return;
      if (OF_ONE_PLACE.includes(trouble.code)) return block(trouble, file, error);
      const isNew = condition?.code !== trouble.code;
      if (isNew) log.error(`nothing can be saved: ${trouble.words}`, { file, error });
      if (isNew || clock.now() - alertedAt >= REMIND_MS) {
        alertedAt = clock.now();
        if (isNew) condition = { ...trouble, since: clock.now() };
        alert({
          kind: FULL.includes(trouble.code) ? 'disk-full' : 'disk',
          text: () =>
            t('I could not save anything: {trouble} ({code}, {file}).', {
              trouble: translated(trouble.words),
              code: trouble.code,
              file,
            }),
          remedy: () => remedyFor(trouble),
          // Without the file, since the hosts of one process meet the condition with different files.
          reason: `${hostname()} ${trouble.code}`,
        });
      }
    },
    unreadable(error, document) {
      const trouble = diskTroubleOf(error);
      log.error('what is stored cannot be read', { document, error });
      if (trouble === undefined || clock.now() - unreadableAt < REMIND_MS) return;
      unreadableAt = clock.now();
      alert({
        kind: 'disk-read',
        text: () =>
          t('The stored document {document} cannot be read: {trouble}.', { document, trouble: diskTroubleText(error) }),
        remedy: () => translated(trouble.remedy),
      });
    },
  };
}

/**
 * The error for operators when the data cannot be read or written at the start.
 * @returns CINNABAR_DATA_UNUSABLE; `undefined` for an error that was not caused by the disk
 */
export function dataUnusable(folder: string, error: unknown): CinnabarError | undefined {
  const trouble = diskTroubleOf(error);
  if (trouble === undefined) return undefined;
  const isCoded = error instanceof CinnabarError && error.params.detail !== undefined;
  const detail = isCoded ? `${error.params.document}: ${error.params.detail}` : diskTroubleText(error);
  return new CinnabarError('CINNABAR_DATA_UNUSABLE', { folder, detail, remedy: trouble.remedy }, { cause: error });
}

/**
 * Wraps a driver with coded errors: CINNABAR_STORAGE_WRITE and CINNABAR_STORAGE_READ have messages that members may read. The reason is sent to the log and the
 * owners.
 */
export function watchedDriver(driver: Driver, watch: DiskWatch): Driver {
  const writing = async <T>(
    path: DocumentPath,
    operation: () => Promise<T>,
    succeeded: (document: string) => void = watch.removed,
  ): Promise<T> => {
    const document = nameOf(path);
    try {
      watch.check();
      const result = await operation();
      succeeded(document);
      return result;
    } catch (error) {
      if (error instanceof OutdatedDocument) throw error;
      watch.failed(error, document);
      throw error instanceof DamagedDocument ? error : storageWriteError(document, error);
    }
  };
  const reading = async <T>(path: DocumentPath, operation: () => Promise<T>): Promise<T> => {
    try {
      return await operation();
    } catch (error) {
      if (error instanceof DamagedDocument || error instanceof CinnabarError) throw error;
      const document = nameOf(path);
      watch.unreadable(error, document);
      throw storageReadError(document, error);
    }
  };
  const { shared, frozen } = driver;
  return {
    ...(frozen === undefined ? {} : { frozen: (task) => reading([], () => frozen(task)) }),
    ...(shared === undefined
      ? {}
      : {
          shared: {
            ...shared,
            read: (path) => reading(path, () => shared.read(path)),
            replace: (path, stored, revision) =>
              writing(
                path,
                () => shared.replace(path, stored, revision),
                stored === undefined ? watch.removed : watch.written,
              ),
          },
        }),
    read: (path) => reading(path, () => driver.read(path)),
    list: (prefix, whose) => reading(prefix, () => driver.list(prefix, whose)),
    write: (path, stored) => writing(path, () => driver.write(path, stored), watch.written),
    delete: (path) => writing(path, () => driver.delete(path)),
    erase: (path) => writing(path, () => driver.erase(path)),
    setAside: (path) => writing(path, () => driver.setAside(path)),
    keep: (path, label) => writing(path, () => driver.keep(path, label)),
    journal(path, guildId) {
      const medium = driver.journal(path, guildId);
      return {
        name: medium.name,
        read: () => reading(path, () => medium.read()),
        add: (lines) => writing(path, () => medium.add(lines), watch.written),
        replace: (lines) => writing(path, () => medium.replace(lines), watch.written),
        get size() {
          return medium.size;
        },
        keepCopy: (label) => writing(path, () => medium.keepCopy(label), watch.written),
        eraseCopies: (isConcerned) => writing(path, () => medium.eraseCopies(isConcerned)),
        erase: () => writing(path, () => medium.erase()),
        release: () => medium.release(),
      };
    },
    journals: (prefix = []) => reading(prefix, () => driver.journals(prefix)),
    eraseJournals: (plugin) => writing([plugin], () => driver.eraseJournals(plugin)),
    close: () => driver.close(),
  };
}
