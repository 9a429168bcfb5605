import { createHash } from 'node:crypto';
import { CALL_STATES, type LedgerEntry, type Logger, z } from '@cinnabar/sdk';
import { DamagedDocument, type DocumentPath, type Driver } from '../../storage/driver.js';
import { isFinal } from './states.js';
import type { LedgerStore } from './store.js';

const VERSION = 1;
const OPEN: DocumentPath = ['@host', 'ledger', 'open'];
const ENDED: DocumentPath = ['@host', 'ledger', 'ended'];
const KEYS: DocumentPath = ['@host', 'ledger', 'keys'];

const keySchema = z.object({ callId: z.string() });
/** Keys are anybody's text, and may be long. */
const pathOfKey = (key: string): DocumentPath => [...KEYS, createHash('sha256').update(key).digest('hex')];

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
  state: z.enum(CALL_STATES),
  createdAt: z.number(),
  updatedAt: z.number(),
  decidedBy: z.string().exactOptional(),
  reason: z.string().exactOptional(),
  text: z.string().exactOptional(),
});

/** A document per call. Open and ended ones apart, so that a start reads only what it has to resolve. */
export function createDriverStore(driver: Driver, log: Logger): LedgerStore {
  const read = async (path: DocumentPath, again = true): Promise<LedgerEntry | undefined> => {
    try {
      const stored = await driver.read(path);
      return stored === undefined ? undefined : rowSchema.parse(stored.data);
    } catch (error) {
      if (!(error instanceof DamagedDocument || error instanceof z.ZodError)) throw error;
      const place = await driver.setAside(path);
      log.error('a call in the ledger could not be read and was put aside', { path: path.join('/'), place, error });
      return again ? read(path, false) : undefined;
    }
  };

  const idsBelow = async (prefix: DocumentPath) =>
    (await driver.list(prefix)).flatMap((path) => path.slice(prefix.length, prefix.length + 1));

  const forgetKey = async (callId: string) => {
    const key = (await read([...ENDED, callId]))?.key;
    if (key !== undefined) await driver.erase(pathOfKey(key));
  };

  return {
    async unfinished() {
      const rows = await Promise.all((await idsBelow(OPEN)).map((id) => read([...OPEN, id])));
      return rows.filter((row) => row !== undefined);
    },
    async save(entry) {
      // The key first: a row that nobody finds under its key would be run again.
      if (entry.state === 'proposed' && entry.key !== undefined) {
        await driver.write(pathOfKey(entry.key), { version: VERSION, data: { callId: entry.id } });
      }
      if (!isFinal(entry.state)) return driver.write([...OPEN, entry.id], { version: VERSION, data: entry });
      // In this order: dying in between leaves both, and the ended one counts.
      await driver.write([...ENDED, entry.id], { version: VERSION, data: entry });
      await driver.delete([...OPEN, entry.id]);
    },
    get: async (callId) => (await read([...ENDED, callId])) ?? (await read([...OPEN, callId])),
    finished: async () => (await idsBelow(ENDED)).sort(),
    async byKey(key) {
      const stored = await driver.read(pathOfKey(key));
      return stored === undefined ? undefined : keySchema.parse(stored.data).callId;
    },
    async remove(callId) {
      await forgetKey(callId);
      await driver.delete([...ENDED, callId]);
    },
    async erase(callId) {
      await forgetKey(callId);
      await driver.erase([...ENDED, callId]);
    },
  };
}
