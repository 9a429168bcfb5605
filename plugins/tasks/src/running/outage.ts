import type { Task } from '../model/task.js';
import type { RunControl } from './control.js';
import type { RunParts } from './parts.js';
import { pause } from './pause.js';
import { say } from './say.js';

const FIRST_PAUSE_MS = 2_000;
const LONGEST_PAUSE_MS = 300_000;
/** A single failure is soon over, and not worth a message. */
const TOLD_AFTER = 2;
const TOLD =
  '📡 The language model cannot be reached at the moment. I wait, and go on by myself as soon as it answers. Nothing is lost.';

/** Failures of the model that pass by themselves. */
const PASSING: ReadonlySet<string> = new Set([
  'CINNABAR_LLM_UNAVAILABLE',
  'CINNABAR_LLM_PAUSED',
  'CINNABAR_LLM_RATE_LIMITED',
  'CINNABAR_LLM_TIMEOUT',
]);

export const isOutage = (code: string): boolean => PASSING.has(code);

/**
 * Waits a little longer after each failure, says once that it waits, and returns for the next attempt. The time counts as work, so the task's own
 * limit ends it. @throws Interrupted
 */
export async function waitOutOutage(parts: RunParts, control: RunControl, id: string): Promise<void> {
  const { journal, clock } = parts;
  const now = clock.now();
  const task = await journal.move(id, 'running', (draft) => {
    const { since = now, failures = 0, told = false } = draft.outage ?? {};
    draft.outage = { since, failures: failures + 1, told };
  });
  const { since = now, failures = 1, told = false } = task.outage ?? {};
  if (failures >= TOLD_AFTER && !told) {
    await say(parts, control, task, { key: `outage:${since}`, kind: 'warning', text: TOLD }, (draft) => {
      if (draft.outage !== undefined) draft.outage.told = true;
    });
  }
  await pause(clock, Math.min(FIRST_PAUSE_MS * 2 ** (failures - 1), LONGEST_PAUSE_MS), control.interrupted);
}

/** Added to the reason for which a task ends while its model is away. */
export function outageNote({ outage }: Pick<Task, 'outage'>): string {
  if (outage === undefined) return '';
  return ' The language model could not be reached for the last part of it.';
}
