import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import {
  CinnabarError,
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
import { SECRETS_FILE } from '../backup/paths.js';
import type { Redactor } from '../observability/log-entry.js';

type Environment = Readonly<Record<string, string | undefined>>;

export interface SecretsService extends Secrets {
  /** Reads what is stored. A file that cannot be used is put aside, and the owner hears of it. */
  open(): Promise<void>;
  /** What plugins read: the environment, and what is stored where that leaves something unset. */
  environment(): Environment;
}

interface SecretsOptions {
  readonly dataDir: string;
  /** Of the process, with `.env`. */
  readonly env: Environment;
  /** What loaded plugins declare to read, whether or not they run. */
  readonly declared: () => readonly { readonly id: string; readonly env: EnvSchema }[];
  readonly plugins: () => Pick<Plugins, 'list' | 'load' | 'reload'>;
  readonly redactor: Redactor;
  readonly alert: (alert: OwnerAlert) => void;
  /** Several processes serve the bot, each with data of its own: nothing is stored there. */
  readonly isShared: boolean;
  readonly log: Logger;
}

const storedSchema = z.object({ version: z.literal(1), values: z.record(z.string(), z.string().min(1)) });
const LONGEST = 4_000;

/** The bot's own store of secrets, beside the environment. */
export function createSecrets(options: SecretsOptions): SecretsService {
  const { dataDir, env, declared, plugins, redactor, alert, isShared, log } = options;
  const file = join(dataDir, SECRETS_FILE);
  const mutex = createKeyedMutex();
  let values: Readonly<Record<string, string>> = {};

  const readersOf = (name: string) => declared().filter((plugin) => secretNamesIn(plugin.env).includes(name));
  const sourceOf = (name: string): SecretInfo['source'] =>
    env[name] ? 'environment' : values[name] === undefined ? undefined : 'stored';

  const save = async (changed: Readonly<Record<string, string>>) => {
    await replaceFile(file, `${JSON.stringify({ version: 1, values: changed })}\n`, { mode: 0o600 });
    values = changed;
  };

  const assertSettable = (name: string, isRead: boolean) => {
    if (!isRead) throw new UserError(t('No plugin reads a secret called {name}.', { name }));
    if (sourceOf(name) === 'environment')
      throw new UserError(t('{name} is set in the environment, which comes first. Change it there.', { name }));
    if (!isShared) return;
    throw new UserError(
      t(
        'Several processes serve this bot. Set {name} in the environment of each, and restart them one after another.',
        { name },
      ),
    );
  };

  /** One after another: one may provide what the next needs. */
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

  return {
    async open() {
      const text = await textIn(file);
      if (text === undefined) return;
      const stored = storedIn(text);
      if (stored === undefined) {
        await renameFile(file, `${file}.corrupt`);
        alert({
          kind: 'secrets-damaged',
          text: () => t('The file of stored secrets could not be read, and was put aside.'),
          remedy: () => t('Set them again with `secrets`.'),
        });
        return;
      }
      for (const value of Object.values(stored)) redactor.add(value);
      values = stored;
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
        await save({ ...values, [name]: value });
        return reloadReaders(name);
      }),
    delete: (name) =>
      mutex.run('', async () => {
        if (values[name] === undefined) throw new UserError(t('{name} is not stored here.', { name }));
        await save(Object.fromEntries(Object.entries(values).filter(([one]) => one !== name)));
        return reloadReaders(name);
      }),
    redact(words) {
      const names = new Set(declared().flatMap((plugin) => Object.keys(plugin.env.shape)));
      for (const word of words.split(/\s+/)) if (!names.has(word.toUpperCase())) redactor.add(word);
    },
  };
}

/** Told by the JSON Schema, so that it does not matter which copy of zod a plugin brings. */
function secretNamesIn(env: EnvSchema): readonly string[] {
  return Object.entries(env.shape).flatMap(([name, schema]) =>
    z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any' }).secret === true ? [name] : [],
  );
}

function descriptionOf(schema: z.core.$ZodType | undefined): string | undefined {
  return schema && z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any' }).description;
}

async function textIn(file: string): Promise<string | undefined> {
  try {
    return await readFile(file, 'utf8');
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined;
    throw error;
  }
}

function storedIn(text: string): Readonly<Record<string, string>> | undefined {
  try {
    return storedSchema.parse(JSON.parse(text)).values;
  } catch {
    return undefined;
  }
}
