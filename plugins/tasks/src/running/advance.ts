import { isControl } from '../control/definitions.js';
import type { Task } from '../model/task.js';
import type { Rules } from '../settings.js';
import { closeIfOver, endCall } from './close.js';
import type { RunControl } from './control.js';
import { callControl } from './control-call.js';
import type { RunParts } from './parts.js';
import { say } from './say.js';
import { START_TOOL } from './start-tool.js';
import { callTools } from './tool-call.js';

/** Takes the step that is under way one stride further: its text is said, then its calls are carried out in order. */
export async function advance(parts: RunParts, control: RunControl, task: Task, rules: Rules): Promise<void> {
  const { step, id } = task;
  if (step === undefined) return;
  if (step.text !== '' && step.textIds === undefined) {
    const saying = { key: `text:${step.n}`, kind: 'text', text: step.text } as const;
    return say(parts, control, task, saying, (draft, ids) => {
      if (draft.step !== undefined) draft.step.textIds = ids;
      closeIfOver(draft, rules);
    });
  }
  const call = step.calls.find(({ state }) => state !== 'done');
  if (call === undefined) {
    await parts.journal.note(id, (draft) => closeIfOver(draft, rules));
  } else if (call.unreadable !== undefined) {
    const sorry = `Not run: ${call.unreadable}.`;
    await parts.journal.note(id, endCall(call.id, 'failed', sorry, rules));
  } else if (isControl(call.name)) {
    await callControl({ parts, control, task, call, rules }, call.name);
  } else if (call.name === START_TOOL) {
    await parts.journal.note(id, endCall(call.id, 'failed', 'A task cannot start another task.', rules));
  } else {
    await callTools({ parts, control, task, step, rules });
  }
}
