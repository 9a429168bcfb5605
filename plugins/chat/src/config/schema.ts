import { z } from '@cinnabar/sdk';
import type { PinnedConfig } from '../history/types.js';
import {
  behaviourKeys,
  contextKeys,
  identityKeys,
  type KeyTraits,
  keyTraits,
  modelKeys,
  receiptKeys,
  withoutDefault,
} from './keys.js';

/** Every key of the configuration, each with its description, default and who may set it (`.meta()`). */
export const botConfigSchema = z.object({
  ...identityKeys,
  ...modelKeys,
  ...contextKeys,
  ...behaviourKeys,
  ...receiptKeys,
});

type Values = z.output<typeof botConfigSchema>;

/** The configuration in force for a channel. */
export type BotConfig = Readonly<Omit<Values, 'truncateToTokens'> & { truncateToTokens: number }>;

const LARGEST_SHARE = 0.9;
const DEFAULT_SHARE = 0.6;

/** Fills in the values that follow from others. */
export function complete(values: Values): BotConfig {
  const { maxContextTokens, truncateToTokens, name, innerName = name } = values;
  const target =
    truncateToTokens === undefined || !isTruncation(truncateToTokens, maxContextTokens)
      ? Math.floor(maxContextTokens * DEFAULT_SHARE)
      : truncateToTokens;
  return { ...values, innerName, truncateToTokens: target };
}

/** Whether cutting down to `target` makes room: it would otherwise be cut again at once. */
export function isTruncation(target: number, maxContextTokens: number): boolean {
  return target <= maxContextTokens * LARGEST_SHARE;
}

/** What holds where nothing is configured. */
export const DEFAULT_CONFIG: BotConfig = complete(botConfigSchema.parse({}));

/** Configuration in force for a channel: shared → guild → bot → bot-guild → the guild's settings → channel pins. */
export interface ChatConfig {
  /** Never rejects for what somebody wrote: what cannot be used is left out and listed in `problems`. */
  forChannel(place: {
    readonly guildId: string | null;
    readonly pins: readonly PinnedConfig[];
  }): Promise<EffectiveConfig>;
  /** Why an admin's value would not hold in a guild, whatever the files say; `undefined` when it would. */
  refusalOf(guildId: string, key: string, value: unknown): Promise<string | undefined>;
}

export interface EffectiveConfig {
  readonly config: BotConfig;
  /** Where each value came from, by path (`temperature`): `config/bots/claude.yaml:3`, `setting of the server`, `pin 123…:2` (the line below `.config`), `default`. */
  readonly origin: Readonly<Record<string, string>>;
  /** Everything that was not used, with the reason, file, line and key. */
  readonly problems: readonly string[];
}

/** One key of the configuration. */
export interface Leaf extends KeyTraits {
  readonly path: string;
  readonly schema: z.core.$ZodType;
  /** What holds when nobody says anything. */
  readonly fallback: unknown;
}

/** Every value by its path. */
export const LEAVES: ReadonlyMap<string, Leaf> = new Map(
  Object.entries(botConfigSchema.shape).map(([path, schema]) => [path, leafOf(path, schema)]),
);

function leafOf(path: string, schema: z.core.$ZodType): Leaf {
  const traits = keyTraits.get(schema);
  if (traits === undefined) throw new TypeError(`the key ${path} is declared without \`key(…)\``);
  return { ...traits, path, schema: withoutDefault(schema), fallback: z.safeParse(schema, undefined).data };
}
