import { createHash } from 'node:crypto';
import { type Logger, z } from '@cinnabar/sdk';
import { DamagedDocument, type DocumentPath, type Driver } from '../../storage/driver.js';

const VERSION = 1;
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
export const keyNameOf = (key: string): string => createHash('sha256').update(key).digest('hex');

/** Which call each key belongs to, a document each. A key is here only when its call has had a row. */
export function createKeyStore({ driver, log, search }: Parts) {
  const write = (keyName: string, callId: string) =>
    driver.write([...KEYS, keyName], { version: VERSION, data: { callId } });

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
