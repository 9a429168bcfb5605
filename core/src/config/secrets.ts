import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import {
  CinnabarError,
  type Collection,
  createKeyedMutex,
  type EnvSchema,
  type Logger,
  type OwnerAlert,
  type Plugins,
  plainIssue,
  type ReloadOutcome,
  renameFile,
  replaceFile,
  type SecretInfo,
  type Secrets,
  sentenceOf,
  t,
  UserError,
  z,
} from '@cinnabar/sdk';
import type { Redactor } from '../observability/log-entry.js';

type Environment = Readonly<Record<string, string | undefined>>;

export interface SecretsService extends Secrets {
  /** Reads the stored values. A file that cannot be used is put aside, and the owner gets a notice. */
  open(): Promise<void>;
  /** The environment for plugins: the process's variables, and stored values for variables that it does not set. */
  environment(): Environment;
}

interface SecretsOptions {
  /** `undefined` when several processes serve the bot without a shared key: then nothing is stored. */
  readonly store: SecretStore | undefined;
  /** The variables of the process, including `.env`. */
  readonly env: Environment;
  /** The variables that loaded plugins declare, whether or not they run. */
  readonly declared: () => readonly { readonly id: string; readonly env: EnvSchema }[];
  readonly plugins: () => Pick<Plugins, 'list' | 'load' | 'reload'>;
  readonly redactor: Redactor;
  readonly alert: (alert: OwnerAlert) => void;
  readonly log: Logger;
}

const LONGEST = 4_000;

const DAMAGED: OwnerAlert = {
  kind: 'secrets-damaged',
  text: () => t('The file of stored secrets could not be read, and was put aside.'),
  remedy: () => t('Set them again with `secrets`.'),
};

const UNREADABLE: OwnerAlert = {
  kind: 'secrets-damaged',
  text: () => t('Stored secrets were encrypted with another CINNABAR_SECRET_KEY than that of this process.'),
  remedy: () => t('Give all processes the same key, or set them again with `secrets`.'),
};

/** The bot's store of secrets, in addition to the environment. */
export function createSecrets(options: SecretsOptions): SecretsService {
  const { store, env, declared, plugins, redactor, alert, log } = options;
  const mutex = createKeyedMutex();
  let values: SecretValues = {};

  const readersOf = (name: string) => declared().filter((plugin) => secretNamesIn(plugin.env).includes(name));
  const sourceOf = (name: string): SecretInfo['source'] =>
    env[name] ? 'environment' : values[name] === undefined ? undefined : 'stored';

  const take = (changed: SecretValues) => {
    for (const value of Object.values(changed)) redactor.add(value);
    values = changed;
  };

  const writable = (name: string): SecretStore => {
    if (store !== undefined) return store;
    throw new UserError(
      t(
        'Several processes serve this bot. Set CINNABAR_SECRET_KEY to the same random text of at least 32 characters in the environment of each, or {name} itself; then restart them one after another.',
        { name },
      ),
    );
  };

  const assertSettable = (name: string, isRead: boolean) => {
    if (!isRead) throw new UserError(t('No plugin reads a secret called {name}.', { name }));
    if (sourceOf(name) === 'environment')
      throw new UserError(t('{name} is set in the environment, which comes first. Change it there.', { name }));
  };

  /** One at a time: a plugin may provide what the next one needs. */
  const reloadReaders = async (name: string): Promise<readonly ReloadOutcome[]> => {
    const outcomes: ReloadOutcome[] = [];
    for (const { id } of readersOf(name)) {
      const state = plugins()
        .list()
        .find((one) => one.id === id)?.state;
      try {
        await (state === 'running' ? plugins().reload(id) : plugins().load(id));
        outcomes.push({ plugin: id });
      } catch (error) {
        log.warn('a plugin could not be loaded anew with a changed secret', { plugin: id, name, error });
        const reason = error instanceof CinnabarError ? error.message : sentenceOf(error);
        outcomes.push({ plugin: id, problem: redactor.text(reason ?? t('the log has the reason')) });
      }
    }
    return outcomes;
  };

  /** Reads the values that another process has changed, and reloads the plugins that use them. */
  const follow = async () => {
    try {
      const before = values;
      take((await store?.read())?.values ?? {});
      const names = new Set([...Object.keys(before), ...Object.keys(values)]);
      for (const name of names) if (before[name] !== values[name]) await reloadReaders(name);
    } catch (error) {
      log.warn('secrets that were changed elsewhere could not be read', { error });
    }
  };

  return {
    async open() {
      if (store === undefined) return;
      const { values: stored, isDamaged } = await store.read();
      if (isDamaged) alert(store.follow === undefined ? DAMAGED : UNREADABLE);
      take(stored);
      store.follow?.(() => void mutex.run('', follow));
    },
    environment: () => ({ ...env, ...Object.fromEntries(Object.entries(values).filter(([name]) => !env[name])) }),
    list() {
      const names = [...new Set(declared().flatMap((plugin) => secretNamesIn(plugin.env)))].sort();
      return names.map((name) => {
        const readers = readersOf(name);
        const [described] = readers.flatMap(({ env: { shape } }) => descriptionOf(shape[name]) ?? []);
        return { name, description: described ?? '', plugins: readers.map(({ id }) => id), source: sourceOf(name) };
      });
    },
    set: (name, given) =>
      mutex.run('', async () => {
        const value = given.trim();
        redactor.add(value);
        const readers = readersOf(name);
        assertSettable(name, readers.length > 0);
        const target = writable(name);
        if (value === '' || value.length > LONGEST) {
          const detail = t('it has to have 1 to {most} characters.', { most: LONGEST });
          throw new CinnabarError('CINNABAR_SETTING_INVALID', { key: name, detail });
        }
        for (const {
          env: { shape },
        } of readers) {
          const [issue] = z.safeParse(shape[name] ?? z.string(), value).error?.issues ?? [];
          if (issue === undefined) continue;
          const detail = `${redactor.text(plainIssue(issue.message))}.`;
          throw new CinnabarError('CINNABAR_SETTING_INVALID', { key: name, detail });
        }
        take(await target.change(name, value));
        return reloadReaders(name);
      }),
    delete: (name) =>
      mutex.run('', async () => {
        if (values[name] === undefined) throw new UserError(t('{name} is not stored here.', { name }));
        take(await writable(name).change(name, undefined));
        return reloadReaders(name);
      }),
    redact(words) {
      const names = new Set(declared().flatMap((plugin) => Object.keys(plugin.env.shape)));
      for (const word of words.split(/\s+/)) if (!names.has(word.toUpperCase())) redactor.add(word);
    },
  };
}

/** Read from the JSON Schema, which does not depend on the plugin's copy of zod. */
function secretNamesIn(env: EnvSchema): readonly string[] {
  return Object.entries(env.shape).flatMap(([name, schema]) =>
    z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any' }).secret === true ? [name] : [],
  );
}

function descriptionOf(schema: z.core.$ZodType | undefined): string | undefined {
  return schema && z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any' }).description;
}

type SecretValues = Readonly<Record<string, string>>;

/** Where secrets that were set from Discord are stored. */
export interface SecretStore {
  /** The stored values, and whether something could not be read. */
  read(): Promise<{ readonly values: SecretValues; readonly isDamaged: boolean }>;
  /** Sets a value, or removes it when it is `undefined`. Returns all values that are then stored. */
  change(name: string, value: string | undefined): Promise<SecretValues>;
  /** Called when another process may have changed a value. */
  follow?(listener: () => void): void;
}

const storedSchema = z.object({ version: z.literal(1), values: z.record(z.string(), z.string().min(1)) });

/** Stores secrets in a file that only the user of the process can read. A file that cannot be used is put aside. */
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

/** The encrypted value of a secret, stored under its name. */
export const encryptedSecret = z.object({ encrypted: z.string() });

/**
 * Stores secrets in the bot's storage, encrypted with a key that all its processes share. Values that were encrypted with another key are kept, but cannot be
 * read.
 */
export function createSharedSecrets(options: {
  readonly documents: Collection<z.output<typeof encryptedSecret>, 'global'>;
  readonly key: string;
  /** Called when changes may have been missed. */
  readonly onGap: (listener: () => Promise<void>) => unknown;
}): SecretStore {
  const { documents, key: given, onGap } = options;
  // The key is random and long, so no slow key derivation is needed.
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

/** The name is authenticated, too, so that no value can replace another. */
function encrypt(key: Buffer, name: string, value: string): string {
  const iv = randomBytes(IV_BYTES);
  const cipher = createCipheriv(CIPHER, key, iv).setAAD(Buffer.from(name));
  const text = Buffer.concat([cipher.update(value, 'utf8'), cipher.final()]);
  return Buffer.concat([iv, cipher.getAuthTag(), text]).toString('base64');
}

/** `undefined` when the value was encrypted with another key, or modified. */
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
