import type { BudgetLimits, Configuration, Logger } from '@cinnabar/sdk';
import { readBudgets } from './read.js';

/** The limits of the configuration files that hold in a guild (`null`: direct messages). */
export type LimitsInForce = (guildId: string | null) => Promise<BudgetLimits>;

/** Mistakes that are remembered: the files may be edited for years. */
const MOST_TOLD = 1_000;

/** Mistakes are logged, each once. */
export function createLimitsInForce(configuration: Pick<Configuration, 'layers'>, log: Logger): LimitsInForce {
  const told = new Set<string>();
  return async (guildId) => {
    const { limits, problems } = readBudgets(await configuration.layers(guildId));
    for (const problem of problems.filter((one) => !told.has(one))) {
      if (told.size >= MOST_TOLD) told.clear();
      told.add(problem);
      log.warn(problem);
    }
    return limits;
  };
}
