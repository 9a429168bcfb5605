import { setImmediate as nextTurn } from 'node:timers/promises';
import {
  type ConfigLayer,
  type Configuration,
  issueLanguage,
  type Logger,
  matchesWildcard,
  readYaml,
  speaking,
  t,
  translated,
  z,
} from '@cinnabar/sdk';
import type { Client, SendableChannels } from 'discord.js';
import { distance } from 'fastest-levenshtein';
import { LRUCache } from 'lru-cache';
import type { ChannelHistory, PinnedConfig } from '../history/types.js';
import { OLD_NAME } from './guild-settings.js';
import {
  type BotConfig,
  botConfigSchema,
  complete,
  type EffectiveConfig,
  isTruncation,
  type KeyScope,
  LEAVES,
  type Leaf,
} from './keys.js';

export type ConfigSource = ReturnType<typeof createConfigSource>;

/** Reads the configuration that applies now, including the channel's pins. */
export function createConfigSource(
  chatConfig: ReturnType<typeof createChatConfig>,
  history: Pick<ChannelHistory, 'pinnedConfigs'>,
  { botName }: Pick<Configuration, 'botName'>,
  client: Client,
) {
  /** The configuration of a guild (`null`: of direct messages), without pins. Makes no request to Discord. */
  const forGuild = (guildId: string | null) => chatConfig.forChannel({ guildId, pins: [] });
  return {
    forGuild,
    refusalOf: chatConfig.refusalOf,
    /** The configuration of a channel, including its pins. */
    async forChannel(channel: SendableChannels): Promise<EffectiveConfig> {
      if (channel.isDMBased()) return forGuild(null);
      const guildId = channel.guild.id;
      const { config } = await forGuild(guildId);
      const names = [botName, config.name, config.innerName, ...discordNames(client, guildId)];
      const pins = await history.pinnedConfigs(
        channel,
        names.filter((name) => name !== undefined),
      );
      return pins.length === 0 ? forGuild(guildId) : chatConfig.forChannel({ guildId, pins });
    },
  };
}

/** The bot's names on Discord. */
function discordNames({ user, guilds }: Client, guildId: string): readonly (string | undefined)[] {
  return [user?.username, user?.displayName, guilds.cache.get(guildId)?.members.me?.displayName];
}

const KEPT_PINS = 500;

interface ChatConfigDependencies {
  readonly configuration: Configuration;
  /** The settings that the admins of a guild have chosen; other keys are left out or `undefined`. */
  settingsOf(guildId: string): Promise<Readonly<Record<string, unknown>>>;
  readonly log: Logger;
}

interface ChannelPins {
  readonly guildId: string | null;
  readonly pins: readonly PinnedConfig[];
}

/** Merges the layers of the configuration: shared → guild → bot → bot-guild → the guild's settings → channel pins. */
export function createChatConfig({ configuration, settingsOf, log }: ChatConfigDependencies) {
  const readings = new WeakMap<ConfigLayer, Reading>();
  const pinReadings = new LRUCache<string, { readonly yaml: string; readonly reading: Reading }>({ max: KEPT_PINS });
  const warnOnce = createWarner(log);

  /** The same object for the same file, until the file changes. */
  const readFile = (layer: ConfigLayer): Reading => {
    const known = readings.get(layer);
    if (known !== undefined) return known;
    const originOf = (path: readonly string[]) => `${layer.source}:${layer.lineOf(path)}`;
    const reading = readEntries(layer.values, { originOf, file: true });
    readings.set(layer, reading);
    return reading;
  };

  /** Caches a pin's values by its text: parsing fifty pins that are written to parse slowly would take a second for each answer. */
  const readOnce = async (pin: PinnedConfig): Promise<Reading> => {
    const known = pinReadings.get(pin.messageId);
    if (known?.yaml === pin.yaml) return known.reading;
    // Lets other work run between two pins.
    await nextTurn();
    const reading = readPin(pin);
    pinReadings.set(pin.messageId, { yaml: pin.yaml, reading });
    return reading;
  };

  return {
    /** Why a value set by an admin would have no effect in a guild; `undefined` if it would have one. */
    async refusalOf(guildId: string, key: string, value: unknown): Promise<string | undefined> {
      let files: Entries = new Map();
      for (const layer of await configuration.layers(guildId)) files = merge(files, readFile(layer).entries);
      const { problems } = restrict(files, readSettings({ [key]: value }), 'guild');
      return problems[0]?.reason();
    },
    /** Never rejects: unusable values are left out and listed in `problems`. */
    async forChannel({ guildId, pins }: ChannelPins): Promise<EffectiveConfig> {
      const problems: Problem[] = [];
      let entries: Entries = new Map();
      const lay = (reading: Reading) => {
        entries = merge(entries, reading.entries);
        problems.push(...reading.problems);
      };
      for (const layer of await configuration.layers(guildId)) lay(readFile(layer));
      if (guildId !== null) lay(restrict(entries, readSettings(await settingsOf(guildId)), 'guild'));
      for (const pin of pins) lay(restrict(entries, await readOnce(pin), 'channel'));
      problems.push(...wrongTruncation(entries));
      for (const problem of problems) warnOnce(problem);
      return { config: build(entries), origin: originsOf(entries), problems: problems.map(textOf) };
    },
  };
}

function wrongTruncation(entries: Entries): readonly Problem[] {
  const set = entries.get('truncateToTokens');
  const limit = valueAt(entries, 'maxContextTokens');
  if (typeof set?.value !== 'number' || typeof limit !== 'number' || isTruncation(set.value, limit)) return [];
  return [
    {
      origin: set.origin,
      key: 'truncateToTokens',
      reason: () => t('must be at most 9 tenths of maxContextTokens ({limit}); 6 tenths are used', { limit }),
    },
  ];
}

/** Limit, since pins can be edited any number of times. */
const MOST_WARNED = 1_000;

/** Logs each problem once, in English. */
function createWarner(log: Logger): (problem: Problem) => void {
  const warned = new Set<string>();
  return (problem) => {
    const text = speaking(undefined, () => textOf(problem));
    if (warned.has(text)) return;
    if (warned.size >= MOST_WARNED) warned.clear();
    warned.add(text);
    log.warn(text);
  };
}

/** An admin's choices as one layer. */
function readSettings(values: Readonly<Record<string, unknown>>): Reading {
  const { [OLD_NAME]: recencyWindow, ...others } = values;
  // `undefined` means not set. The new name takes precedence over the old one.
  const set = [...Object.entries({ recencyWindow }), ...Object.entries(others)].filter(
    ([, value]) => value !== undefined,
  );
  return readEntries(Object.fromEntries(set), { originOf: () => 'setting of the server', file: false });
}

/** The text of Discord's longest message, with 4,000 characters, is smaller. */
const LARGEST_BYTES = 16_000;

/** Parses the text of a pinned message below its first line. Line numbers start there. */
function readPin({ messageId, yaml }: PinnedConfig): Reading {
  const at = (line: number) => `pin ${messageId}:${line}`;
  const reading = readYaml(yaml, { maxBytes: LARGEST_BYTES });
  if (!reading.ok) {
    const reason = () => {
      const again = readYaml(yaml, { maxBytes: LARGEST_BYTES });
      return again.ok ? '' : again.problem;
    };
    return { entries: new Map(), problems: [{ origin: at(reading.line), reason }] };
  }
  const theirs = new Map(Object.keys(reading.values).map((key) => [keyHere(key), key]));
  const values = Object.fromEntries([...theirs].map(([key, written]) => [key, reading.values[written]]));
  return readEntries(values, {
    originOf: ([key = '', ...inner]) => at(reading.lineOf([theirs.get(key) ?? key, ...inner])),
    file: false,
  });
}

/** The key's name here; pins for other programs write `recency_window`. */
function keyHere(written: string): string {
  return [...LEAVES.keys()].find((path) => fold(path) === fold(written)) ?? written;
}

/**
 * Removes values from a layer that its author may not set.
 * @param below the values without the layer
 * @param by `guild`: an admin; `channel`: a member who may pin messages
 */
function restrict(below: Entries, { entries, problems }: Reading, by: Exclude<KeyScope, 'files'>): Reading {
  const kept = new Map<string, Entry>();
  const more: Problem[] = [];
  for (const [path, entry] of entries) {
    const leaf = LEAVES.get(path);
    const refusal = leaf === undefined ? () => t('there is no such key') : refusalOf(leaf, entry.value, below, by);
    if (refusal === undefined) kept.set(path, entry);
    else more.push({ origin: entry.origin, key: path, reason: refusal });
  }
  return { entries: kept, problems: [...problems, ...more] };
}

function refusalOf(
  { path, scope, lowerOnly }: Leaf,
  value: unknown,
  below: Entries,
  by: Exclude<KeyScope, 'files'>,
): Problem['reason'] | undefined {
  if (scope === 'files') return () => t('can be set in the configuration files only');
  if (scope === 'guild' && by === 'channel') return () => t('can be set by admins only, with `!set chat`');
  const present = valueAt(below, path) ?? impliedAt(below, path);
  if (lowerOnly && rises(present, value)) {
    return () => t('may be lowered here, not raised above {present}', { present: String(present) });
  }
  if (path === 'continuationModel' && value !== present && !isAllowed(value, valueAt(below, 'allowedModels')))
    return () => t('the model {model} is not one of allowedModels', { model: String(value) });
  return undefined;
}

/** The value of a cost-related key that is not set. */
function impliedAt(below: Entries, path: string): number | undefined {
  const { recencyWindow, truncateToTokens } = build(below);
  if (path === 'rollingThreshold') return recencyWindow;
  return path === 'truncateToTokens' ? truncateToTokens : undefined;
}

function rises(present: unknown, value: unknown): boolean {
  if (typeof value === 'boolean') return value && present !== true;
  return typeof value !== 'number' || typeof present !== 'number' || value > present;
}

function isAllowed(model: unknown, allowed: unknown): boolean {
  if (typeof model !== 'string' || !Array.isArray(allowed)) return false;
  return allowed.some((pattern) => typeof pattern === 'string' && matchesWildcard(model, pattern));
}

/** A value and its source. `undefined` resets a key to its default. */
export interface Entry {
  readonly value: unknown;
  readonly origin: string;
}
/** Values by path. */
export type Entries = ReadonlyMap<string, Entry>;

interface Reading {
  readonly entries: Entries;
  readonly problems: readonly Problem[];
}

/** A value that is not used. Its sentence is made when it is shown, because parsed layers are cached for people with different languages. */
interface Problem {
  readonly origin: string;
  /** `undefined` stands for the whole value. */
  readonly key?: string;
  reason(): string;
}

const textOf = ({ origin, key, reason }: Problem): string =>
  [translated(origin), ...(key === undefined ? [] : [key]), reason()].join(': ');

interface Place {
  /** The source of a key, for people. */
  originOf(path: readonly string[]): string;
  /** Whether the layer is a file of the owner: those also contain other plugins' keys, and an empty key resets the value of wider files. */
  readonly file: boolean;
}

/** Longer keys are invalid. */
const LONGEST_KEY = 60;

/** Validates values key by key. Invalid ones are left out with a problem. */
function readEntries(values: Readonly<Record<string, unknown>>, place: Place): Reading {
  const entries = new Map<string, Entry>();
  const problems: Problem[] = [];

  for (const [path, value] of Object.entries(values)) {
    const origin = place.originOf([path]);
    const verdict = judge(path, value, place);
    if (verdict.kind === 'value') entries.set(path, { value: verdict.value, origin });
    else if (verdict.kind === 'wrong') problems.push({ origin, key: clip(path), reason: verdict.reason });
  }
  return { entries, problems };
}

type Verdict =
  | { readonly kind: 'value'; readonly value: unknown }
  | { readonly kind: 'wrong'; readonly reason: Problem['reason'] }
  | { readonly kind: 'nothing' };

function judge(path: string, value: unknown, { file }: Place): Verdict {
  const leaf = LEAVES.get(path);
  if (leaf === undefined) {
    // A key of another plugin, or one that the host already warns about.
    if (file) return { kind: 'nothing' };
    const meant = closestTo(path);
    const reason = () =>
      meant === undefined ? t('there is no such key.') : t('there is no such key. Did you mean {meant}?', { meant });
    return { kind: 'wrong', reason };
  }
  if (value === null)
    return file ? { kind: 'value', value: undefined } : { kind: 'wrong', reason: () => t('has no value') };
  const parsed = z.safeParse(leaf.schema, value);
  if (parsed.success) return { kind: 'value', value: parsed.data };
  const reason = () => {
    const [issue] = z.safeParse(leaf.schema, value, issueLanguage()).error?.issues ?? [];
    return issue === undefined ? t('not valid') : translated(issue.message);
  };
  return { kind: 'wrong', reason };
}

/** Cuts a key for a message, because a pin may contain keys of any length. */
function clip(path: string): string {
  return path.length > LONGEST_KEY ? `${path.slice(0, LONGEST_KEY)}…` : path;
}

/** The key that was probably meant: the same apart from case and underscores. `undefined` without one. */
function closestTo(typed: string): string | undefined {
  if (typed.length > LONGEST_KEY) return undefined;
  const wanted = fold(typed);
  const [best] = [...LEAVES.keys()]
    .map((name) => ({ name, away: distance(wanted, fold(name)) }))
    .sort((one, other) => one.away - other.away);
  return best !== undefined && best.away <= Math.max(1, Math.floor(best.name.length / 3)) ? best.name : undefined;
}

/** Removes case and underscores, which other programs use: `recency_window`. */
function fold(key: string): string {
  return key.replaceAll(/[_-]/g, '').toLowerCase();
}

/** Merges `narrow` over `wide`. Associative; `new Map()` is neutral. */
export function merge(wide: Entries, narrow: Entries): Entries {
  return new Map([...wide, ...narrow]);
}

/** The value that applies at a path. */
export function valueAt(entries: Entries, path: string): unknown {
  return entries.get(path)?.value ?? LEAVES.get(path)?.fallback;
}

/** All values as one configuration. */
export function build(entries: Entries): BotConfig {
  const values: Record<string, unknown> = {};
  for (const [path, { value }] of entries) if (value !== undefined) values[path] = value;
  return complete(botConfigSchema.parse(values));
}

/** Where the value of each path came from. */
function originsOf(entries: Entries): Readonly<Record<string, string>> {
  return Object.fromEntries([...LEAVES.keys()].map((path) => [path, entries.get(path)?.origin ?? 'default']));
}
