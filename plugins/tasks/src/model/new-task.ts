import { NO_USAGE, type TaskRequest, tokensOf } from '@cinnabar/sdk';
import type { Background, Task, Words } from './task.js';

/** A task that nobody has begun with. */
export function newTask(
  id: string,
  { prompt, actor, origin, messageId }: TaskRequest,
  requester: string,
  background: Background,
  now: number,
): Task {
  return {
    id,
    actor: { ...actor },
    requester,
    origin,
    prompt,
    ...(messageId === undefined ? {} : { messageId }),
    background,
    status: 'queued',
    createdAt: now,
    changedAt: now,
    workedMs: 0,
    stepCount: 0,
    usage: { ...NO_USAGE },
    cost: 0,
    warned: false,
    scratchpad: [],
    entries: [],
    unknowns: [],
    circles: { ...NO_CIRCLES },
    log: [],
    pausing: false,
    pausedByHost: false,
  };
}

const NO_CIRCLES: Task['circles'] = { lastCall: '', identical: 0, idle: 0, errors: 0, failures: 0 };

/** Puts a task that is over where it was, with a new word of its people: its limits count from here, its steps go on counting. */
export function goOnFrom(draft: Task, said: Words): void {
  const { stepCount, workedMs, usage, cost, ending } = draft;
  draft.continuedFrom = { steps: stepCount, workedMs, tokens: tokensOf(usage), cost: cost ?? 0 };
  draft.continued = (draft.continued ?? 0) + 1;
  draft.circles = { ...NO_CIRCLES };
  draft.warned = false;
  const text = `The task had ended: ${ending?.text ?? ''} Now it goes on with this.`;
  draft.entries.push({ kind: 'note', text });
  hear(draft, said);
  delete draft.question;
  delete draft.outage;
}

/** What people have said since the last step is heard; nothing of what came before it is a circle any more. */
export function hearInbox(draft: Task): void {
  for (const words of draft.inbox ?? []) hear(draft, words);
  draft.circles = { ...NO_CIRCLES };
  delete draft.inbox;
}

function hear(draft: Task, words: Words): void {
  draft.entries.push({ kind: 'said', ...words });
  if (words.userId === draft.actor.userId) return;
  draft.alongside = [...new Set([...(draft.alongside ?? []), words.userId])];
}
