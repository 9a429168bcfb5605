import type { Readable } from 'node:stream';
import { createBrotliDecompress, createGunzip, createInflate } from 'node:zlib';
import { UserError } from '@cinnabar/sdk';

const DECODERS: Readonly<Record<string, () => NodeJS.ReadWriteStream>> = {
  gzip: createGunzip,
  'x-gzip': createGunzip,
  deflate: createInflate,
  br: createBrotliDecompress,
};

export const ACCEPTED_ENCODINGS = 'gzip, deflate, br';

/**
 * Reads a body as far as `mostBytes`, counted both as it comes and unpacked: a small body that unpacks to a huge one is cut off there.
 * @throws UserError when there is more, or when it cannot be unpacked
 */
export async function readBody(body: Readable, encoding: string, mostBytes: number): Promise<Buffer> {
  const steps = encoding.split(',').map((step) => step.trim().toLowerCase());
  const packed = steps.filter((step) => step !== '' && step !== 'identity');
  // Packed twice, it is somebody's bomb rather than somebody's page.
  const make = packed.length <= 1 ? DECODERS[packed[0] ?? ''] : undefined;
  if (packed.length > 0 && make === undefined) {
    letGo(body);
    throw new UserError(`The page is packed in a way that is not read: ${encoding}.`);
  }
  const decoder = make?.();
  if (decoder !== undefined) {
    body.once('error', () => decoder.emit('error', new Error('the connection was cut')));
    body.pipe(decoder);
  }
  const source = decoder ?? body;
  const chunks: Buffer[] = [];
  let size = 0;
  try {
    for await (const chunk of source) {
      const bytes = Buffer.from(chunk);
      size += bytes.length;
      if (size > mostBytes) throw new UserError(`The page is larger than ${Math.round(mostBytes / 1024)} KB.`);
      chunks.push(bytes);
    }
  } catch (error) {
    if (error instanceof UserError) throw error;
    throw new UserError('The page could not be read to its end.', { cause: error });
  } finally {
    letGo(body);
  }
  return Buffer.concat(chunks);
}

/** Ends a body that nobody reads. That is an abort to its connection, which would otherwise be reported as an error. */
export function letGo(body: Readable): void {
  body.on('error', () => undefined);
  body.destroy();
}
