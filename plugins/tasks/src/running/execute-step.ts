import { FOR_REQUESTER_ALONE, type Outcome, type SettledOutcome, type ToolInfo } from '@cinnabar/sdk';
import type { Rules } from '../settings.js';
import { actorOf, type Call, pingedIn, type Step, type Task } from '../task.js';
import { changeCall, closeIfOver, endCall } from './complete-step.js';
import { callControl, isControl } from './control-calls.js';
import { Interrupted, pause, type RunControl, type TaskContext, until } from './run-control.js';
import { say } from './speech.js';

/** Takes the step that is under way one stride further: its text is said, then its calls are carried out in order. */
export async function executeStep(context: TaskContext, control: RunControl, task: Task, rules: Rules): Promise<void> {
  const { step, id } = task;
  if (step === undefined) return;
  if (step.text !== '' && step.textIds === undefined) {
    const saying = { key: `text:${step.n}`, kind: 'text', text: step.text } as const;
    return say(context, control, task, saying, (draft, ids) => {
      if (draft.step !== undefined) draft.step.textIds = ids;
      closeIfOver(draft, rules);
    });
  }
  const call = step.calls.find(({ state }) => state !== 'done');
  if (call === undefined) {
    await context.journal.note(id, (draft) => closeIfOver(draft, rules));
  } else if (call.unreadable !== undefined) {
    const sorry = `Not run: ${call.unreadable}.`;
    await context.journal.note(id, endCall(call.id, 'failed', sorry, rules));
  } else if (isControl(call.name)) {
    await callControl({ context, control, task, call, rules }, call.name);
  } else if (call.name === START_TOOL) {
    await context.journal.note(id, endCall(call.id, 'failed', 'A task cannot start another task.', rules));
  } else {
    await callTools({ context, control, task, step, rules });
  }
}

/** A call whose card ends early (a restart, a plugin that is loaded again) is asked for again this often. */
const MOST_CARDS = 50;
/** One whose end is not known, where making it twice does no harm. */
const MOST_RUNS = 3;
const FIRST_PAUSE_MS = 2_000;
const LONGEST_PAUSE_MS = 300_000;
const HOUR_MS = 3_600_000;
/** More of a result than this would crowd out everything else. */
const LONGEST_RESULT = 20_000;
const UNKNOWN = 'CINNABAR_TOOL_UNKNOWN_OUTCOME';

interface StepScene {
  readonly context: TaskContext;
  readonly control: RunControl;
  readonly task: Task;
  readonly step: Step;
  readonly rules: Rules;
}

/** One call of the step. */
interface CallScene extends StepScene {
  readonly call: Call;
  /** Called when the call waits for a decision. */
  onDeferred(): void;
  /** Whether another call of the step waits for a decision already. */
  isWaiting(): boolean;
}

/** Whether a call is for a tool of the host. */
export const isToolCall = ({ name, unreadable }: Call): boolean =>
  unreadable === undefined && !isControl(name) && name !== START_TOOL;

/**
 * Carries out the calls of host tools with which the rest of the step begins. They begin in order. One that waits for a decision does not hold
 * up those behind it, so a member is asked for all approvals of a step at once.
 */
async function callTools(scene: StepScene): Promise<void> {
  const { context, control, task, step } = scene;
  const calls = callsToMake(step);
  const underWay: Promise<void>[] = [];
  let left = calls.length;
  let waiting = 0;
  const onResult = () => {
    left -= 1;
    return left === 0;
  };
  for (const call of calls) {
    if (control.interrupted.aborted) throw new Interrupted();
    const deferred = new Promise<void>((resolve) => {
      const onDeferred = () => {
        waiting += 1;
        resolve();
      };
      const one = callTool({ ...scene, call, onDeferred, isWaiting: () => waiting > 0 }, onResult);
      // What it rejects with is thrown below, where all of them are waited for.
      one.then(resolve, () => resolve());
      underWay.push(one);
    });
    await deferred;
  }
  if (left > 0) await awaitDecisions(context, task.id, scene.rules);
  await Promise.all(underWay);
}

function callsToMake({ calls }: Step): readonly Call[] {
  const first = calls.findIndex(({ state }) => state !== 'done');
  const rest = calls.slice(first);
  const end = rest.findIndex((call) => !isToolCall(call));
  return (end < 0 ? rest : rest.slice(0, end)).filter(({ state }) => state !== 'done');
}

/** Waiting for a decision takes no room from other tasks. */
async function awaitDecisions(
  { journal, slots, clock, notices }: TaskContext,
  id: string,
  rules: Rules,
): Promise<void> {
  const decideBy = clock.now() + rules.approvalHours * HOUR_MS;
  const task = await journal.move(id, 'waiting_approval', ({ step }) => {
    for (const call of step?.calls ?? []) if (call.state === 'begun') call.decideBy ??= decideBy;
  });
  slots.release(id);
  await notices.direct(task, rules, `approval:${task.stepCount}`, 'approval');
}

/**
 * One call: it is written that it begins, then it is asked for under a key of its own, then what came of it is written. Asked again after a
 * crash, the host knows the key, and answers with what has become of the call instead of making it again.
 * @param onResult returns whether it was the last one that was under way
 */
async function callTool(scene: CallScene, onResult: () => boolean): Promise<void> {
  const { context, control, task, step, call, rules } = scene;
  const { journal } = context;
  const begunNow = control.begunNow === call.id;
  if (!begunNow || task.status !== 'tool_executing') await journal.move(task.id, 'tool_executing', beginCall(call.id));
  const { kind, text, sources } = told(await outcomeOf(scene, call.state === 'begun' && !begunNow));
  const what = `${call.name}(${JSON.stringify(call.input).slice(0, 200)}) in step ${step.n}`;
  const change = (draft: Task) => {
    endCall(call.id, kind, text, rules, sources)(draft);
    if (kind === 'unknown') draft.unknowns.push(what);
  };
  await (onResult() ? journal.move(task.id, 'running', change) : journal.note(task.id, change));
  control.underWay.delete(call.id);
}

/** Written before it is carried out. */
export function beginCall(callId: string): (draft: Task) => void {
  return changeCall(callId, (call) => {
    call.state = 'begun';
  });
}

/** @param repeated it was begun before a restart */
async function outcomeOf(scene: CallScene, repeated: boolean): Promise<SettledOutcome> {
  const { context, control, task, call, rules } = scene;
  const decideBy = call.decideBy ?? context.clock.now() + rules.approvalHours * HOUR_MS;
  for (let attempt = call.attempt; ; attempt += 1) {
    if (control.left.aborted) throw new Interrupted();
    const asked = await until(invoke(scene, attempt, decideBy), control.left);
    if (asked.status === 'deferred') {
      control.underWay.set(call.id, asked.settled);
      scene.onDeferred();
    }
    const outcome = asked.status === 'deferred' ? await until(asked.settled, control.interrupted) : asked;
    if (!worthAnother(scene, outcome, attempt, decideBy)) return outcome;
    const pauseMs = Math.min(FIRST_PAUSE_MS * 2 ** (attempt - call.attempt), LONGEST_PAUSE_MS);
    if (!(repeated && attempt === call.attempt)) await pause(context.clock, pauseMs, control.interrupted);
    await context.journal.note(
      task.id,
      changeCall(call.id, (draft) => {
        draft.attempt = attempt + 1;
      }),
    );
  }
}

function invoke(
  { context, control, task, step, call, rules, isWaiting }: CallScene,
  attempt: number,
  decideBy: number,
) {
  const { guildId, channelId } = actorOf(task);
  const outcome: Promise<Outcome> = context.tools.invoke({
    name: call.name,
    arguments: call.input,
    actor: actorOf(task),
    alongside: (task.alongside ?? []).map((userId) => ({ userId, guildId, channelId })),
    signal: control.stopped,
    origin: 'tasks',
    key: `${task.id}:${step.n}:${step.calls.findIndex(({ id }) => id === call.id)}`,
    attempt,
    session: {
      id: task.id,
      name: 'this task',
      decideWithinMs: Math.max(decideBy - context.clock.now(), 0),
      // Once for all that is asked at the same time.
      mention: pingedIn(task, rules) !== undefined && !isWaiting(),
    },
    ...(task.lastId === undefined ? {} : { messageId: task.lastId }),
  });
  control.underWay.set(call.id, outcome);
  return outcome;
}

interface Told {
  readonly kind: NonNullable<Call['outcome']>;
  readonly text: string;
  readonly sources?: Call['sources'];
}

/**
 * Whether to ask once more. A call of which nobody knows how it ended: only where making it twice does no more than making it once. A card that
 * ended before its time: it did not run, and its member has decided nothing.
 */
function worthAnother(
  { context, control, call }: CallScene,
  outcome: SettledOutcome,
  attempt: number,
  decideBy: number,
): boolean {
  if (outcome.status === 'expired') {
    return attempt < MOST_CARDS && !control.stopped.aborted && context.clock.now() < decideBy;
  }
  if (outcome.status !== 'failed' || outcome.error.code !== UNKNOWN || attempt >= MOST_RUNS) return false;
  const info: ToolInfo | undefined = context.tools.list().find(({ name }) => name === call.name);
  return info?.idempotent === true;
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
      return {
        kind: 'expired',
        text: `Not run, and nobody refused it: no decision was made in time. ${outcome.reason}`,
      };
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

/** By which other minds start tasks. A task starts none. */
export const START_TOOL = 'start_task';
