import { CALL_STATES, type LedgerEntry, type Logger, z } from '@cinnabar/sdk';
import { DamagedDocument, type DocumentPath, type Driver } from '../../storage/driver.js';
import { isFinal } from './states.js';
import type { LedgerStore } from './store.js';

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
  actor: z.object({ userId: z.string(), guildId: z.string().nullable(), channelId: z.string() }),
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

  return {
    async unfinished() {
      const rows = await Promise.all((await idsBelow(OPEN)).map((id) => read([...OPEN, id])));
      return rows.filter((row) => row !== undefined);
    },
    async save(entry) {
      if (!isFinal(entry.state)) return driver.write([...OPEN, entry.id], { version: VERSION, data: entry });
      // In this order: dying in between leaves both, and the ended one counts.
      await driver.write([...ENDED, entry.id], { version: VERSION, data: entry });
      await driver.delete([...OPEN, entry.id]);
    },
    get: async (callId) => (await read([...ENDED, callId])) ?? (await read([...OPEN, callId])),
    finished: async () => (await idsBelow(ENDED)).sort(),
    remove: (callId) => driver.delete([...ENDED, callId]),
    erase: (callId) => driver.erase([...ENDED, callId]),
  };
}
