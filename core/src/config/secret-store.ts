import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { type Collection, renameFile, replaceFile, z } from '@cinnabar/sdk';

export type SecretValues = Readonly<Record<string, string>>;

/** Where values of secrets are kept that were set from Discord. */
export interface SecretStore {
  /** What is kept, and whether something was there that cannot be read. */
  read(): Promise<{ readonly values: SecretValues; readonly isDamaged: boolean }>;
  /** Sets one, or removes it. Returns all that are then kept. */
  change(name: string, value: string | undefined): Promise<SecretValues>;
  /** Calls back when another process may have changed some. */
  follow?(listener: () => void): void;
}

const storedSchema = z.object({ version: z.literal(1), values: z.record(z.string(), z.string().min(1)) });

/** In a file that the user of the process alone can read. One that cannot be used is put aside. */
export function createSecretFile(file: string): SecretStore {
  let values: SecretValues = {};
  return {
    async read() {
      const text = await textIn(file);
      const stored = text === undefined ? {} : storedIn(text);
      values = stored ?? {};
      if (stored === undefined) await renameFile(file, `${file}.corrupt`);
      return { values, isDamaged: stored === undefined };
    },
    async change(name, value) {
      const { [name]: _, ...others } = values;
      const changed = value === undefined ? others : { ...others, [name]: value };
      await replaceFile(file, `${JSON.stringify({ version: 1, values: changed })}\n`, { mode: 0o600 });
      values = changed;
      return values;
    },
  };
}

async function textIn(file: string): Promise<string | undefined> {
  try {
    return await readFile(file, 'utf8');
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined;
    throw error;
  }
}

function storedIn(text: string): SecretValues | undefined {
  try {
    return storedSchema.parse(JSON.parse(text)).values;
  } catch {
    return undefined;
  }
}

/** The encrypted value of a secret, kept by its name. */
export const encryptedSecret = z.object({ encrypted: z.string() });

/**
 * In the bot's storage, for all processes that serve it, encrypted with a key that they share. Values that were encrypted with another key stay as they are, and
 * cannot be read.
 */
export function createSharedSecrets(options: {
  readonly documents: Collection<z.output<typeof encryptedSecret>, 'global'>;
  readonly key: string;
  /** Calls back when changes may have been missed. */
  readonly onGap: (listener: () => Promise<void>) => unknown;
}): SecretStore {
  const { documents, key: given, onGap } = options;
  // The key is random, as long as it has to be: nothing has to make guessing it slow.
  const key = Buffer.from(hkdfSync('sha256', given, 'cinnabar', 'secrets', KEY_BYTES));
  const readAll = async () => {
    const values: Record<string, string> = {};
    let isDamaged = false;
    for await (const [name, { encrypted }] of documents.entries()) {
      const value = decrypt(key, name, encrypted);
      if (value === undefined) isDamaged = true;
      else values[name] = value;
    }
    return { values, isDamaged };
  };
  return {
    read: readAll,
    async change(name, value) {
      if (value === undefined) await documents.of(name).delete();
      else await documents.of(name).set({ encrypted: encrypt(key, name, value) });
      return (await readAll()).values;
    },
    follow(listener) {
      documents.watch((_name, { isRemote }) => {
        if (isRemote) listener();
      });
      onGap(async () => listener());
    },
  };
}

const CIPHER = 'aes-256-gcm';
const KEY_BYTES = 32;
const IV_BYTES = 12;
const TAG_BYTES = 16;

/** The name is part of what is proved, so that no value can be taken for another's. */
function encrypt(key: Buffer, name: string, value: string): string {
  const iv = randomBytes(IV_BYTES);
  const cipher = createCipheriv(CIPHER, key, iv).setAAD(Buffer.from(name));
  const text = Buffer.concat([cipher.update(value, 'utf8'), cipher.final()]);
  return Buffer.concat([iv, cipher.getAuthTag(), text]).toString('base64');
}

/** `undefined` for what was encrypted with another key, or changed. */
function decrypt(key: Buffer, name: string, encrypted: string): string | undefined {
  const bytes = Buffer.from(encrypted, 'base64');
  const tag = bytes.subarray(IV_BYTES, IV_BYTES + TAG_BYTES);
  if (tag.length < TAG_BYTES) return undefined;
  try {
    const decipher = createDecipheriv(CIPHER, key, bytes.subarray(0, IV_BYTES), { authTagLength: TAG_BYTES })
      .setAAD(Buffer.from(name))
      .setAuthTag(tag);
    const text = decipher.update(bytes.subarray(IV_BYTES + TAG_BYTES));
    return Buffer.concat([text, decipher.final()]).toString('utf8');
  } catch {
    return undefined;
  }
}
