import { brokenBy, countStep } from '../breakers/breakers.js';
import { compact } from '../context/compact.js';
import { GO_ON } from '../context/prompt.js';
import { isControl } from '../control/definitions.js';
import { isFinal } from '../model/status.js';
import type { Call, Task } from '../model/task.js';
import type { Rules } from '../settings.js';
import type { RunControl } from './control.js';
import { callControl } from './control-call.js';
import { finish, logStep, settleCall } from './finish.js';
import type { RunParts } from './parts.js';
import { say } from './say.js';
import { callTool, changeCall } from './tool-call.js';

/** Takes the step that is under way one stride further: its text is said, then its calls are carried out in order, then it is closed. */
export async function advance(parts: RunParts, control: RunControl, task: Task, rules: Rules): Promise<void> {
  const { step, id } = task;
  if (step === undefined) return;
  if (step.text !== '' && step.textIds === undefined) {
    const saying = { key: `text:${step.n}`, kind: 'text', text: step.text } as const;
    return say(parts, control, task, saying, ({ step: draft }, ids) => {
      if (draft !== undefined) draft.textIds = ids;
    });
  }
  const next = step.calls.find(({ state }) => state !== 'done');
  if (next === undefined) return close(parts, task, rules);
  const { unreadable } = next;
  if (unreadable !== undefined) {
    const sorry = `Not run: the arguments could not be read, because ${unreadable}.`;
    await parts.journal.note(
      id,
      changeCall(next.id, (one) => settleCall(one, 'failed', sorry)),
    );
    return;
  }
  await carryOut(parts, control, task, next);
}

async function carryOut(parts: RunParts, control: RunControl, task: Task, call: Call): Promise<void> {
  if (task.step === undefined) return;
  if (isControl(call.name)) await callControl(parts, control, task, call, call.name);
  else await callTool({ parts, control, task, step: task.step, call });
}

/** Takes the step into what the model remembers, and ends a run that leads nowhere. */
async function close({ journal }: RunParts, { id }: Task, rules: Rules): Promise<void> {
  const task = await journal.note(id, (draft) => {
    const { step } = draft;
    if (step === undefined) return;
    const { n, text, calls } = step;
    draft.entries.push({ kind: 'step', n, text, calls });
    if (calls.length === 0) draft.entries.push({ kind: 'note', text: GO_ON });
    Object.assign(draft, compact(draft, rules.contextTokens));
    draft.circles = countStep(draft.circles, step);
    logStep(draft, step);
    delete draft.step;
  });
  const broken = brokenBy(task.circles, rules);
  if (broken === undefined || isFinal(task.status)) return;
  await finish({ journal }, id, 'error', { kind: 'breaker', text: `${broken} Stopping here.` });
}
