import { z } from '@cinnabar/sdk';

/** Where a document lives: `['party', 'collections', 'user', 'rosters', '42']`. Segments are free text; a driver encodes them. */
export type DocumentPath = readonly string[];

/** What is stored of a document: plain JSON with the version of its shape. */
export interface Stored {
  readonly version: number;
  readonly data: unknown;
}

/**
 * What a storage medium has to do. Asynchronous, so that a database fits; the callers serialise writes to one document.
 * Every driver passes the one contract suite in `test/core/storage/driver-contract.ts`.
 */
export interface Driver {
  /** `undefined` when there is none. @throws DamagedDocument when what is there cannot be read as a document */
  read(path: DocumentPath): Promise<Stored | undefined>;
  /**
   * Durable when it resolves. Whatever goes wrong, and whenever the process dies, the document is the old one or the new one; the old one when it
   * rejects, unless the medium fails altogether: `read` says which.
   */
  write(path: DocumentPath, stored: Stored): Promise<void>;
  /** Removes the document; copies that were put aside stay. */
  delete(path: DocumentPath): Promise<void>;
  /** Removes the document and every copy of it. */
  erase(path: DocumentPath): Promise<void>;
  /** The paths below `prefix` of which anything is kept, be it only a copy put aside. */
  list(prefix: DocumentPath): Promise<readonly DocumentPath[]>;
  /**
   * Takes a damaged or invalid document out of the way without deleting it. The next `read` gives the last good copy when it differs,
   * else nothing, so at most two calls end in a document that reads or in none. Returns where it was put, `undefined` when nothing was there.
   */
  setAside(path: DocumentPath): Promise<string | undefined>;
  /** Keeps a copy of the document as it is now, named after `label`. Returns where. */
  keep(path: DocumentPath, label: string): Promise<string>;
  close(): Promise<void>;
}

/** Something is stored, but it is not a document any more. */
export class DamagedDocument extends Error {
  constructor(detail: string, options?: ErrorOptions) {
    super(detail, options);
    this.name = 'DamagedDocument';
  }
}

const envelope = z.object({ version: z.int().min(1), data: z.unknown() });

/** A stored document as text a person can read. Throws a TypeError when the data is not JSON. */
export function encodeStored(stored: Stored): string {
  return `${JSON.stringify({ version: stored.version, data: stored.data }, undefined, 2)}\n`;
}

/** @throws DamagedDocument when the text is not an envelope */
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
