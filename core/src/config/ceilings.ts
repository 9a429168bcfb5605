import {
  CinnabarError,
  type ConfigLayer,
  type Configuration,
  type Logger,
  matchesWildcard,
  type SettingsDocument,
  z,
} from '@cinnabar/sdk';
import type { Field } from '../storage/catalog/fields.js';

/** What the owner allows the admins of a server to set at most. */
export interface Ceilings {
  /** By key of the plugin's settings. */
  readonly numbers: ReadonlyMap<string, number>;
  /** Patterns of the models that admins may choose. */
  readonly models: readonly string[];
}

export interface CeilingService {
  /** @param guildId `null`: direct messages */
  of(plugin: string, guildId: string | null): Promise<Ceilings>;
  /** The numeric settings of a plugin's servers: any other key is reported as a mistake. */
  declare(plugin: string, keys: readonly string[]): void;
}

/** The host's part of every configuration file. */
export const ceilingsSchema = z.object({
  ceilings: z
    .record(z.string(), z.record(z.string(), z.number().min(0)))
    .optional()
    .describe(
      'What admins may set at most for their servers, by plugin and setting: { tasks: { maxUsd: 10 } }. Narrower files win',
    ),
});

export const NO_CEILINGS: CeilingService = {
  of: async () => ({ numbers: new Map(), models: [] }),
  declare: () => undefined,
};

/** Reads the owner's ceilings from the configuration files. Kept by guild until a file changes. Mistakes are logged, each once, and count as 0. */
export function createCeilings(configuration: Configuration, log: Logger): CeilingService {
  const known = new Map<string, readonly string[]>();
  const kept = new Map<string | null, Promise<Reading>>();
  const told = new Set<string>();
  configuration.claim(['ceilings', 'allowedModels']);
  configuration.onChange(() => kept.clear());

  const tell = (problem: string) => {
    if (told.has(problem)) return;
    told.add(problem);
    log.warn(problem);
  };
  const readingOf = (guildId: string | null): Promise<Reading> => {
    const reading = kept.get(guildId) ?? read(configuration, guildId, tell);
    kept.set(guildId, reading);
    return reading;
  };

  return {
    async of(plugin, guildId) {
      const { ceilings, models } = await readingOf(guildId);
      const entries: Entries = ceilings.get(plugin) ?? new Map();
      for (const [key, { place }] of entries) {
        const keys = known.get(plugin) ?? [];
        if (known.has(plugin) && !keys.includes(key)) {
          tell(`${place}: admins set no number of that name; there are ${keys.join(', ') || 'none'}`);
        }
      }
      return { numbers: new Map([...entries].map(([key, { most }]) => [key, most])), models };
    },
    declare: (plugin, keys) => void known.set(plugin, keys),
  };
}

type Entries = Map<string, { readonly most: number; readonly place: string }>;

interface Reading {
  readonly ceilings: ReadonlyMap<string, Entries>;
  readonly models: readonly string[];
}

async function read(
  configuration: Configuration,
  guildId: string | null,
  tell: (problem: string) => void,
): Promise<Reading> {
  const ceilings = new Map<string, Entries>();
  let models: readonly string[] = [];
  for (const layer of await configuration.layers(guildId)) {
    const { allowedModels } = layer.values;
    if (Array.isArray(allowedModels)) models = allowedModels.filter((pattern) => typeof pattern === 'string');
    readLayer(layer, ceilings, tell);
  }
  return { ceilings, models };
}

function readLayer(
  { source, values, lineOf }: ConfigLayer,
  ceilings: Map<string, Entries>,
  tell: (problem: string) => void,
): void {
  const placeOf = (path: readonly string[]) => `${source}:${lineOf(path)}: ${path.join('.')}`;
  const keysOf = (path: readonly string[], given: unknown) => {
    if (isRecord(given)) return Object.entries(given);
    if (given !== undefined && given !== null) tell(`${placeOf(path)}: must be keys with values`);
    return [];
  };
  for (const [plugin, keys] of keysOf(['ceilings'], values.ceilings)) {
    const own: Entries = ceilings.get(plugin) ?? new Map();
    ceilings.set(plugin, own);
    for (const [key, most] of keysOf(['ceilings', plugin], keys)) {
      const place = placeOf(['ceilings', plugin, key]);
      const isNumber = typeof most === 'number' && most >= 0;
      if (!isNumber) tell(`${place}: must be a number. Until it is put right, it counts as 0.`);
      own.set(key, { most: isNumber ? most : 0, place });
    }
  }
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

type Values = Record<string, unknown>;

/** How much of a setting the owner allows; `undefined` where there is no ceiling. */
export function ceilingOf({ key, ceiling }: Field, { numbers }: Ceilings): number | undefined {
  return numbers.get(key) ?? ceiling;
}

/**
 * A server's settings as they hold: what was set before there was a ceiling reads as the ceiling.
 * @param ceilings those of the server at this moment
 */
export function belowCeilings(
  document: SettingsDocument<Values>,
  fields: readonly Field[],
  ceilings: () => Promise<Ceilings>,
): SettingsDocument<Values> {
  const lowered = async (values: Values): Promise<Values> => {
    const limits = await ceilings();
    return Object.fromEntries(
      Object.entries(values).map(([key, value]) => {
        const field = fields.find((one) => one.key === key);
        return [key, field === undefined ? value : lower(field, value, limits)];
      }),
    );
  };
  return {
    get: async () => lowered(await document.get()),
    set: async (values) => lowered(await document.set(values)),
    update: async (change) => lowered(await document.update(change)),
    reset: (key) => document.reset(key),
  };
}

/** @throws CINNABAR_SETTING_INVALID for a value above its ceiling, or a model that is not among those allowed */
export async function checkCeilings(
  changes: Readonly<Record<string, unknown>>,
  fields: readonly Field[],
  ceilings: () => Promise<Ceilings>,
): Promise<void> {
  const limits = await ceilings();
  for (const field of fields) {
    const problem = problemOf(field, changes[field.key], limits);
    if (problem !== undefined) throw new CinnabarError('CINNABAR_SETTING_INVALID', { key: field.key, detail: problem });
  }
}

function lower(field: Field, value: unknown, limits: Ceilings): unknown {
  if (field.isModel) return typeof value === 'string' && isAllowed(value, limits) ? value : field.default;
  const most = ceilingOf(field, limits);
  if (most === undefined || typeof value !== 'number') return value;
  if (value <= most && value !== field.noLimit) return value;
  return field.type.kind === 'number' ? Math.max(most, field.type.min ?? most) : most;
}

/** "No limit" is always allowed, and means as much as the owner allows. */
function problemOf(field: Field, value: unknown, limits: Ceilings): string | undefined {
  if (field.isModel && typeof value === 'string' && !isAllowed(value, limits)) {
    return `the model ${value} is not one of those that the owner of the bot allows.`;
  }
  const most = ceilingOf(field, limits);
  if (most === undefined || typeof value !== 'number' || value <= most) return undefined;
  return `it may be at most ${most}: the owner of the bot has set that ceiling.`;
}

function isAllowed(model: string, { models }: Ceilings): boolean {
  return models.some((pattern) => matchesWildcard(model, pattern));
}
