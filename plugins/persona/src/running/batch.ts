import type { PlannedAction } from '../planning/sequence.js';
import { createBuffered } from './buffered.js';
import type { ActParts } from './course.js';
import { type Carried, carryOut } from './execute.js';

/** Carries out one action, or several at the same time; tells of them one after another. @throws when the run was cancelled */
export async function carryOutAll(batch: readonly PlannedAction[], parts: ActParts): Promise<readonly Carried[]> {
  const { run, completed, teller } = parts;
  const stage = {
    ...parts,
    run: { ...run, completed: [...completed] },
    said: parts.said(),
    hasSpoken: parts.hasSpoken(),
  };
  const all = batch.map((planned, index) => {
    const buffered = batch.length === 1 ? { ...teller, flush: () => undefined } : createBuffered(teller);
    const toolId = `action_${planned.action.name}_${completed.length + index + 1}`;
    return { carried: carryOut(planned, { ...stage, teller: buffered, toolId }), flush: buffered.flush };
  });
  const results = await Promise.allSettled(all.map(({ carried }) => carried));
  for (const { flush } of all) flush();
  return results.map((result) => {
    if (result.status === 'rejected') throw result.reason;
    return result.value;
  });
}
