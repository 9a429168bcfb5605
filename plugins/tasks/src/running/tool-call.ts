import { FOR_REQUESTER_ALONE, type Outcome, type SettledOutcome, type ToolInfo } from '@cinnabar/sdk';
import { actorOf } from '../model/actor.js';
import type { Call, Step, Task } from '../model/task.js';
import type { Rules } from '../settings.js';
import { changeCall, endCall } from './close.js';
import { Interrupted, type RunControl, until } from './control.js';
import type { RunParts } from './parts.js';
import { START_TOOL } from './start-tool.js';

const MOST_ATTEMPTS = 3;
/** More of a result than this would crowd out everything else. */
const LONGEST_RESULT = 20_000;
export const UNKNOWN = 'CINNABAR_TOOL_UNKNOWN_OUTCOME';

interface CallScene {
  readonly parts: RunParts;
  readonly control: RunControl;
  readonly task: Task;
  readonly step: Step;
  readonly call: Call;
  readonly rules: Rules;
}

/**
 * Carries out one call of a tool of the host: it is written that it begins, then it is asked for under a key of its own, then what came of it
 * is written. Asked again after a crash, the host knows the key, and answers with what has become of the call instead of making it again.
 */
export async function callTool(scene: CallScene): Promise<void> {
  const { parts, control, task, step, call } = scene;
  const { id } = task;
  if (call.name === START_TOOL) return settle(scene, { kind: 'failed', text: 'A task cannot start another task.' });
  if (control.interrupted.aborted) throw new Interrupted();
  const begunNow = control.begunNow === call.id;
  if (!begunNow || task.status !== 'tool_executing') await parts.journal.move(id, 'tool_executing', beginCall(call.id));
  const result = told(await outcomeOf(scene, call.attempt, call.state === 'begun' && !begunNow));
  const what = `${call.name}(${JSON.stringify(call.input).slice(0, 200)}) in step ${step.n}`;
  await settle(scene, result, result.kind === 'unknown' ? what : undefined);
}

/** Written before it is carried out. */
export function beginCall(callId: string): (draft: Task) => void {
  return changeCall(callId, (call) => {
    call.state = 'begun';
  });
}

/** @param repeated it was begun before a restart */
async function outcomeOf(scene: CallScene, attempt: number, repeated: boolean): Promise<SettledOutcome> {
  const { parts, control, task, call } = scene;
  if (control.left.aborted) throw new Interrupted();
  const outcome = await settled(scene, invoke(scene, attempt));
  const info = parts.tools.list().find(({ name }) => name === call.name);
  if (attempt >= MOST_ATTEMPTS || !worthAnother(outcome, info, repeated)) return outcome;
  await parts.journal.move(
    task.id,
    'tool_executing',
    changeCall(call.id, (draft) => {
      draft.attempt = attempt + 1;
    }),
  );
  return outcomeOf(scene, attempt + 1, false);
}

function invoke({ parts, control, task, step, call }: CallScene, attempt: number): Promise<Outcome> {
  const outcome = parts.tools.invoke({
    name: call.name,
    arguments: call.input,
    actor: actorOf(task),
    signal: control.stopped,
    origin: 'tasks',
    key: `${task.id}:${step.n}:${step.calls.findIndex(({ id }) => id === call.id)}`,
    attempt,
    session: { id: task.id, name: 'this task' },
    ...(task.lastId === undefined ? {} : { messageId: task.lastId }),
  });
  control.underWay = { callId: call.id, outcome };
  return outcome;
}

/** Waiting for a decision takes no room from other tasks. */
async function settled({ parts, control, task, call }: CallScene, asked: Promise<Outcome>): Promise<SettledOutcome> {
  const outcome = await until(asked, control.left);
  if (outcome.status !== 'deferred') return outcome;
  control.underWay = { callId: call.id, outcome: outcome.settled };
  await parts.journal.move(task.id, 'waiting_approval');
  parts.slots.release(task.id);
  return until(outcome.settled, control.interrupted);
}

async function settle(
  { parts, control, task, call, rules }: CallScene,
  { kind, text, sources }: Told,
  unknown?: string,
): Promise<void> {
  await parts.journal.move(task.id, 'running', (draft) => {
    endCall(call.id, kind, text, rules, sources)(draft);
    if (unknown !== undefined) draft.unknowns.push(unknown);
  });
  control.underWay = undefined;
}

interface Told {
  readonly kind: NonNullable<Call['outcome']>;
  readonly text: string;
  readonly sources?: Call['sources'];
}

/**
 * Whether to ask once more. A call of which nobody knows how it ended: only where making it twice does no more than making it once. A card that
 * went down with the process: it did not run, and whoever has to decide could not.
 */
function worthAnother(outcome: SettledOutcome, info: ToolInfo | undefined, repeated: boolean): boolean {
  if (outcome.status === 'failed') return outcome.error.code === UNKNOWN && info?.idempotent === true;
  return outcome.status === 'expired' && repeated;
}

/** What the model is told. */
export function told(outcome: SettledOutcome): Told {
  switch (outcome.status) {
    case 'done':
      return {
        kind: 'done',
        text: outcome.audience === 'requester' ? FOR_REQUESTER_ALONE : cut(outcome.text),
        ...(outcome.sources === undefined ? {} : { sources: [...outcome.sources] }),
      };
    case 'denied':
      return { kind: 'denied', text: `Not run. It was denied: ${outcome.reason}` };
    case 'expired':
      return { kind: 'expired', text: `Not run. It expired: ${outcome.reason}` };
    default:
      if (outcome.error.code !== UNKNOWN) return { kind: 'failed', text: outcome.error.message };
      return {
        kind: 'unknown',
        text: `${outcome.error.message} Do not claim that it took effect, nor that it did not, and do not repeat it unless you can tell.`,
      };
  }
}

const cut = (text: string) =>
  text.length <= LONGEST_RESULT ? text : `${text.slice(0, LONGEST_RESULT)}… (${text.length} characters in all)`;
