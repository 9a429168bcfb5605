import type { Told } from './messages.js';
import { numberOf, placeOf } from './places.js';

/** The violations of a run, each as a sentence. */
export function violationsOf(
  ids: readonly string[],
  seen: readonly Told[],
  done: ReadonlySet<string>,
  failed: ReadonlySet<string>,
): readonly string[] {
  const problems = ids.filter((id) => !done.has(id) && !failed.has(id)).map((id) => `${id} was never handled`);
  const keyOf = new Map<string, string>();
  const batchOf = new Map<string, string>();
  const latest = new Map<string, number>();
  for (const told of seen) {
    const batch = told.ids.join(' ');
    if ((batchOf.get(told.key) ?? batch) !== batch) problems.push(`under ${told.key} came ${batch}, too`);
    batchOf.set(told.key, batch);
    for (const id of told.ids) {
      const key = keyOf.get(id);
      if (key === told.key) continue;
      if (key !== undefined) problems.push(`${id} came under ${key} and under ${told.key}`);
      keyOf.set(id, told.key);
      const place = placeOf(id);
      if (numberOf(id) < (latest.get(place) ?? -1)) problems.push(`${id} came after a later one of its channel`);
      latest.set(place, numberOf(id));
    }
  }
  return problems;
}
