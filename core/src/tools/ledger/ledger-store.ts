import { createHash } from 'node:crypto';
import { CALL_STATES, type LedgerEntry, type Logger, toolSource, z } from '@cinnabar/sdk';
import { DamagedDocument, type DocumentPath, type Driver } from '../../storage/driver.js';
import type { LedgerStore } from './ledger.js';

const VERSION = 1;
const OPEN: DocumentPath = ['@host', 'ledger', 'open'];
const ENDED: DocumentPath = ['@host', 'ledger', 'ended'];

const rowSchema: z.ZodType<LedgerEntry> = z.object({
  id: z.string(),
  tool: z.string(),
  plugin: z.string(),
  origin: z.string(),
  input: z.record(z.string(), z.unknown()),
  argumentsHash: z.string(),
  actor: z.object({
    userId: z.string(),
    guildId: z.string().nullable(),
    channelId: z.string(),
    identity: z.string().exactOptional(),
  }),
  key: z.string().exactOptional(),
  messageId: z.string().exactOptional(),
  state: z.enum(CALL_STATES),
  createdAt: z.number(),
  updatedAt: z.number(),
  decidedBy: z.string().exactOptional(),
  reason: z.string().exactOptional(),
  text: z.string().exactOptional(),
  sources: z.array(toolSource).exactOptional(),
  share: z.literal('here').exactOptional(),
  audience: z.literal('requester').exactOptional(),
});

/** What stays, for as long as its row would, of a call that was to be forgotten: its key must not be taken for a new one. */
const forgottenSchema = z.strictObject({ keyName: z.string(), updatedAt: z.number() });
type Forgotten = z.output<typeof forgottenSchema>;
const documentSchema = z.union([rowSchema, forgottenSchema]);

/**
 * A document per call, below `open` until it is archived: it alone says how the call stands, its end included. What is below `ended` is a copy
 * of that, so that a start reads only what it has to resolve.
 */
export function createLedgerStore(driver: Driver, log: Logger): LedgerStore {
  const read = async (path: DocumentPath, again = true): Promise<LedgerEntry | Forgotten | undefined> => {
    try {
      const stored = await driver.read(path);
      return stored === undefined ? undefined : documentSchema.parse(stored.data);
    } catch (error) {
      if (!(error instanceof DamagedDocument || error instanceof z.ZodError)) throw error;
      const place = await driver.setAside(path);
      log.error('a call in the ledger could not be read and was put aside', { path: path.join('/'), place, error });
      return again ? read(path, false) : undefined;
    }
  };

  const idsBelow = async (prefix: DocumentPath) =>
    (await driver.list(prefix)).flatMap((path) => path.slice(prefix.length, prefix.length + 1));

  const readRow = async (path: DocumentPath): Promise<LedgerEntry | undefined> => {
    const found = await read(path);
    return found === undefined || 'keyName' in found ? undefined : found;
  };

  const get = async (callId: string): Promise<LedgerEntry | undefined> => {
    const open = await readRow([...OPEN, callId]);
    const ended = await readRow([...ENDED, callId]);
    // Both are there when a process died while archiving. Earlier versions could also leave an end that had not come about.
    if (open === undefined || ended === undefined) return open ?? ended;
    return open.updatedAt > ended.updatedAt ? open : ended;
  };

  const keys = createKeyStore({
    driver,
    log,
    async search(keyName) {
      for (const folder of [OPEN, ENDED]) {
        for (const id of (await idsBelow(folder)).sort().reverse()) {
          if (keyNameIn(await read([...folder, id])) === keyName) return id;
        }
      }
      return undefined;
    },
  });

  return {
    async unarchived() {
      const rows = await Promise.all((await idsBelow(OPEN)).map(get));
      return rows.filter((row) => row !== undefined);
    },
    async save(entry) {
      await driver.write([...OPEN, entry.id], { version: VERSION, data: entry });
      // After its row, and before it can run: a key without a row is that of a call whose row was lost.
      if (entry.state === 'proposed' && entry.key !== undefined) await keys.write(keyNameOf(entry.key), entry.id);
    },
    async archive(entry) {
      await driver.write([...ENDED, entry.id], { version: VERSION, data: entry });
      await driver.delete([...OPEN, entry.id]);
    },
    get,
    archived: async () => (await idsBelow(ENDED)).sort(),
    endedAt: async (callId) => (await read([...ENDED, callId]))?.updatedAt,
    byKey: (key) => keys.find(keyNameOf(key)),
    async remove(callId) {
      const keyName = keyNameIn(await read([...ENDED, callId]));
      if (keyName !== undefined) await keys.release(keyName, callId);
      await driver.delete([...ENDED, callId]);
    },
    async rewrite(entry) {
      const path = [...ENDED, entry.id];
      await driver.erase(path);
      await driver.write(path, { version: VERSION, data: entry });
    },
    async erase(callId) {
      const path = [...ENDED, callId];
      const found = await read(path);
      const keyName = keyNameIn(found);
      await driver.erase(path);
      if (found === undefined || keyName === undefined) return;
      const { updatedAt } = found;
      await driver.write(path, { version: VERSION, data: { keyName, updatedAt } satisfies Forgotten });
    },
  };
}

function keyNameIn(found: LedgerEntry | Forgotten | undefined): string | undefined {
  if (found === undefined) return undefined;
  if ('keyName' in found) return found.keyName;
  return found.key === undefined ? undefined : keyNameOf(found.key);
}

const KEY_VERSION = 1;
const KEYS: DocumentPath = ['@host', 'ledger', 'keys'];
const schema = z.object({ callId: z.string() });
/** Stands for a call of which nothing is known but that there was one. */
const NO_LONGER_KNOWN = '?';

interface Parts {
  readonly driver: Driver;
  readonly log: Logger;
  /** The id of the latest call whose row says that it has the key: slow, for when the key's own document cannot be read. */
  readonly search: (keyName: string) => Promise<string | undefined>;
}

/** Keys are anybody's text, may be long, and may say something of people: only their SHA-256 is kept beside rows. */
const keyNameOf = (key: string): string => createHash('sha256').update(key).digest('hex');

/** Which call each key belongs to, a document each. A key is here only when its call has had a row. */
function createKeyStore({ driver, log, search }: Parts) {
  const write = (keyName: string, callId: string) =>
    driver.write([...KEYS, keyName], { version: KEY_VERSION, data: { callId } });

  const find = async (keyName: string): Promise<string | undefined> => {
    const path = [...KEYS, keyName];
    try {
      const stored = await driver.read(path);
      return stored === undefined ? undefined : schema.parse(stored.data).callId;
    } catch (error) {
      if (!(error instanceof DamagedDocument || error instanceof z.ZodError)) throw error;
      // There was a call: taking the key for a new one would make it again.
      const callId = (await search(keyName)) ?? NO_LONGER_KNOWN;
      const place = await driver.setAside(path);
      await write(keyName, callId);
      log.error('the key of a call could not be read and was put aside', {
        path: path.join('/'),
        place,
        callId,
        error,
      });
      return callId;
    }
  };

  return {
    find,
    write,
    /** Lets go of a key with its call, unless a later one has it. */
    async release(keyName: string, callId: string): Promise<void> {
      if ((await find(keyName)) === callId) await driver.erase([...KEYS, keyName]);
    },
  };
}
