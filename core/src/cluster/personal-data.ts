import { t, UserError, z } from '@cinnabar/sdk';
import type { PersonalDataService } from '../contracts.js';
import type { ClusterChannel, GroupAnswer, RequestKind } from './assignment.js';

const DEADLINE = { deadlineMs: 20_000 };

const exporting: RequestKind<{ userId: string }, Readonly<Record<string, unknown>>> = {
  name: 'personal-data.export',
  body: z.object({ userId: z.string() }),
  answer: z.record(z.string(), z.unknown()),
};
const forgetting: RequestKind<{ userId: string }, number> = {
  name: 'personal-data.forget',
  body: z.object({ userId: z.string() }),
  answer: z.number(),
};

/** Exports and deletes a person's data in all groups: each host does it for itself and its plugins. */
export function sharePersonalData(own: PersonalDataService, channel: ClusterChannel): PersonalDataService {
  channel.answer(exporting, async ({ userId }) => own.export(userId));
  channel.answer(forgetting, async ({ userId }) => own.forget(userId));
  return {
    ...own,
    async export(userId) {
      const incomplete = t(
        'A process of this bot does not answer at the moment, so this is not everything. Please try again in a minute.',
      );
      return allOf(await channel.askAll(exporting, { userId }, DEADLINE), incomplete).reduce(merged, {});
    },
    async forget(userId) {
      const incomplete = t(
        'A process of this bot does not answer at the moment, so not everything was deleted. Please try again in a minute.',
      );
      const gone = allOf(await channel.askAll(forgetting, { userId }, DEADLINE), incomplete);
      return gone.reduce((sum, one) => sum + one, 0);
    },
  };
}

/** @throws UserError with the sentence when a group has not answered */
function allOf<T>(answers: readonly GroupAnswer<T>[], sentence: string): readonly T[] {
  return answers.map((one) => {
    if (one.ok) return one.answer;
    throw new UserError(sentence, { cause: one.error });
  });
}

type Json = Readonly<Record<string, unknown>>;

/** Merges two objects by key; two values that are not objects become a list. */
function merged(one: Json, other: Json): Json {
  const all: Record<string, unknown> = { ...one };
  for (const [key, value] of Object.entries(other)) all[key] = key in all ? together(all[key], value) : value;
  return all;
}

function together(one: unknown, other: unknown): unknown {
  if (isObject(one) && isObject(other)) return merged(one, other);
  if (JSON.stringify(one) === JSON.stringify(other)) return one;
  return [...listOf(one), ...listOf(other)];
}

const isObject = (value: unknown): value is Json =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
const listOf = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : [value]);
