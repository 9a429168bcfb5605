import { z } from '@cinnabar/sdk';
import { DamagedDocument, type Stored } from './driver.js';

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
