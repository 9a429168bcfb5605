import { type Outcome, type SettledOutcome, t } from '@cinnabar/sdk';
import { Interrupted, pause, type Rules, type RunControl, say, type TaskContext, until } from '../context.js';
import { actorOf, type Call, pingedIn, type Step, type Task } from '../task.js';
import {
  beginCall,
  changeCall,
  completeCall,
  completeStep,
  resultOf,
  UNKNOWN_OUTCOME,
  unknownCall,
} from './complete-step.js';
import { isControl, runControlCall } from './control-calls.js';

/** The tool with which other responders start tasks; not available to tasks themselves. */
export const START_TOOL = 'start_task';

/** Whether a call is for a host tool. */
export const isToolCall = ({ name, unreadable }: Call): boolean =>
  unreadable === undefined && !isControl(name) && name !== START_TOOL;

/** Executes the next part of the current step: its text is sent, then its calls are executed in order. */
export async function executeStep(context: TaskContext, control: RunControl, task: Task, rules: Rules): Promise<void> {
  const { step, id } = task;
  if (step === undefined) return;
  if (step.text !== '' && step.textIds === undefined) {
    return say(context, control, task, { key: `text:${step.n}`, kind: 'text', text: step.text }, (draft, ids) => {
      if (draft.step !== undefined) draft.step.textIds = ids;
      completeStep(draft, rules);
    });
  }
  const call = step.calls.find(({ state }) => state !== 'done');
  const refuse = async (callId: string, result: string) =>
    void (await context.journal.note(id, completeCall(callId, { outcome: 'failed', result }, rules)));
  if (call === undefined) await context.journal.note(id, (draft) => completeStep(draft, rules));
  else if (call.unreadable !== undefined) await refuse(call.id, `Not run: ${call.unreadable}.`);
  else if (isControl(call.name)) await runControlCall({ context, control, task, call, rules }, call.name);
  else if (call.name === START_TOOL) await refuse(call.id, 'A task cannot start another task.');
  else await callTools({ context, control, task, step, rules });
}

/** Number of times that a call is proposed again when its card ends early (a restart, a reloaded plugin). */
const MOST_CARDS = 50;
/** Number of times that a call with an unknown outcome is executed, if repeating it does no harm. */
const MOST_RUNS = 3;
const FIRST_PAUSE_MS = 2_000;
const LONGEST_PAUSE_MS = 300_000;
const HOUR_MS = 3_600_000;

interface StepRun {
  readonly context: TaskContext;
  readonly control: RunControl;
  readonly task: Task;
  readonly step: Step;
  readonly rules: Rules;
}

/** One call of the step. */
interface CallRun extends StepRun {
  readonly call: Call;
  /** Called when the call is deferred for a decision. */
  onDeferred(): void;
  /** Called with the result. @returns whether it was the last running call */
  onResult(): boolean;
  /** Whether another call of the step already waits for a decision. */
  isWaiting(): boolean;
}

/**
 * Executes the leading host tool calls of the rest of the step. They begin in order. A deferred call does not delay the next ones, so that a member is asked
 * for all approvals of a step at once.
 */
async function callTools(run: StepRun): Promise<void> {
  const { context, control, task, step } = run;
  const calls = nextToolCalls(step);
  const inFlight: Promise<void>[] = [];
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
      const one = callTool({ ...run, call, onDeferred, onResult, isWaiting: () => waiting > 0 });
      // A rejection is thrown below, where all calls are awaited.
      one.then(resolve, () => resolve());
      inFlight.push(one);
    });
    await deferred;
  }
  if (left > 0) await awaitDecisions(context, task.id, run.rules);
  await Promise.all(inFlight);
}

function nextToolCalls({ calls }: Step): readonly Call[] {
  const rest = calls.slice(calls.findIndex(({ state }) => state !== 'done'));
  const end = rest.findIndex((call) => !isToolCall(call));
  return (end < 0 ? rest : rest.slice(0, end)).filter(({ state }) => state !== 'done');
}

/** Moves the task to `waiting_approval` and releases its slot. */
async function awaitDecisions(
  { journal, slots, clock, speaker }: TaskContext,
  id: string,
  rules: Rules,
): Promise<void> {
  const decideBy = clock.now() + rules.approvalHours * HOUR_MS;
  const task = await journal.move(id, 'waiting_approval', ({ step }) => {
    for (const call of step?.calls ?? []) if (call.state === 'begun') call.decideBy ??= decideBy;
  });
  slots.release(id);
  await speaker.notify(task, rules, `approval:${task.stepCount}`, 'approval');
}

/**
 * Executes one call: records that it begins, invokes the tool under an idempotency key, records the result. When it is invoked again after a crash, the host
 * recognises the key, and returns the recorded outcome instead of executing it again.
 */
async function callTool(run: CallRun): Promise<void> {
  const { context, control, task, step, call, rules } = run;
  const { journal } = context;
  const begunNow = control.begunNow === call.id;
  if (!begunNow || task.status !== 'tool_executing') await journal.move(task.id, 'tool_executing', beginCall(call.id));
  const result = resultOf(await outcomeOf(run, call.state === 'begun' && !begunNow));
  const change = (draft: Task) => {
    completeCall(call.id, result, rules)(draft);
    if (result.outcome === 'unknown') draft.unknowns.push(unknownCall(call, step.n));
  };
  await (run.onResult() ? journal.move(task.id, 'running', change) : journal.note(task.id, change));
  control.inFlight.delete(call.id);
}

/** @param repeated whether the call was begun before a restart */
async function outcomeOf(run: CallRun, repeated: boolean): Promise<SettledOutcome> {
  const { context, control, task, call, rules } = run;
  const decideBy = call.decideBy ?? context.clock.now() + rules.approvalHours * HOUR_MS;
  for (let attempt = call.attempt; ; attempt += 1) {
    if (control.left.aborted) throw new Interrupted();
    const first = await until(invoke(run, attempt, decideBy), control.left);
    if (first.status === 'deferred') {
      control.inFlight.set(call.id, first.settled);
      run.onDeferred();
    }
    const outcome = first.status === 'deferred' ? await until(first.settled, control.interrupted) : first;
    if (!isRetryable(run, outcome, attempt, decideBy)) return outcome;
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

function invoke({ context, control, task, step, call, rules, isWaiting }: CallRun, attempt: number, decideBy: number) {
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
      name: t('this task'),
      decideWithinMs: Math.max(decideBy - context.clock.now(), 0),
      // One ping for all approvals of a step.
      mention: pingedIn(task, rules) !== undefined && !isWaiting(),
    },
    ...(task.lastId === undefined ? {} : { messageId: task.lastId }),
  });
  control.inFlight.set(call.id, outcome);
  return outcome;
}

/**
 * Whether to repeat a call. One with an unknown outcome is repeated only if that is harmless. A card that ended before its time is posted again, because the
 * call was not executed, and its member has decided nothing.
 */
function isRetryable(
  { context, control, call }: CallRun,
  outcome: SettledOutcome,
  attempt: number,
  decideBy: number,
): boolean {
  if (outcome.status === 'expired') {
    return attempt < MOST_CARDS && !control.stopped.aborted && context.clock.now() < decideBy;
  }
  if (outcome.status !== 'failed' || outcome.error.code !== UNKNOWN_OUTCOME || attempt >= MOST_RUNS) return false;
  return context.tools.list().find(({ name }) => name === call.name)?.idempotent === true;
}
