import { z } from '@cinnabar/sdk';
import { behaviourKeys } from './keys/behaviour.js';
import { contextKeys } from './keys/context.js';
import { identityKeys } from './keys/identity.js';
import { modelKeys } from './keys/model.js';
import { receiptKeys } from './keys/receipts.js';

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
