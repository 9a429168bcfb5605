import { isDeepStrictEqual } from 'node:util';
import { CinnabarError, matchesWildcard, type SettingsDocument } from '@cinnabar/sdk';
import type { Ceilings } from '../../config/ceilings.js';
import type { Field } from '../catalog/fields.js';

type Values = Record<string, unknown>;

/** How much of a setting the owner allows; `undefined` where there is no ceiling. */
export function ceilingOf({ key, ceiling }: Field, { numbers }: Ceilings): number | undefined {
  return numbers.get(key) ?? ceiling;
}

/**
 * A server's settings below the owner's ceilings: what admins set is refused above them, and what was set before there was one reads as the
 * ceiling. @param ceilings those of the server at this moment
 */
export function belowCeilings(
  document: SettingsDocument<Values>,
  fields: readonly Field[],
  ceilings: () => Promise<Ceilings>,
): SettingsDocument<Values> {
  const lowered = (values: Values, limits: Ceilings): Values =>
    Object.fromEntries(
      Object.entries(values).map(([key, value]) => {
        const field = fields.find((one) => one.key === key);
        return [key, field === undefined ? value : lower(field, value, limits)];
      }),
    );
  const check = (values: Values, limits: Ceilings) => {
    for (const field of fields) {
      const problem = problemOf(field, values[field.key], limits);
      if (problem !== undefined) {
        throw new CinnabarError('CINNABAR_SETTING_INVALID', { key: field.key, detail: problem });
      }
    }
  };
  return {
    get: async () => lowered(await document.get(), await ceilings()),
    async set(values) {
      const limits = await ceilings();
      check(values, limits);
      return lowered(await document.set(values), limits);
    },
    async update(change) {
      const limits = await ceilings();
      const values = await document.update(async (draft) => {
        const before = structuredClone(draft);
        await change(draft);
        const changed = Object.entries(draft).filter(([key, value]) => !isDeepStrictEqual(before[key], value));
        check(Object.fromEntries(changed), limits);
      });
      return lowered(values, limits);
    },
    reset: (key) => document.reset(key),
  };
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
