import { type Outcome, withinLimit } from '@cinnabar/sdk';
import { compact } from '../context/prompt.js';
import { type Call, isFinal, keyOf, pingedIn, type Task } from '../task.js';
import { changeCall, logStep, settleCall } from './complete-step.js';
import { told } from './execute-step.js';
import { type RunControl, type TaskContext, until } from './run-control.js';
import { attachMessages, keepSaid, messageOf } from './speech.js';

/** What is remembered of a task that is over. */
const KEPT_TOKENS = 4_000;
/** A tool that was told to stop gets so long to do it before it counts as unknown. */
const GRACE_MS = 3_000;

/**
 * Tells the channel, once, that a task is over: what it has done, what was halted, what nobody knows. What it leaves behind is cleared: its
 * approvals, its room, and of what it remembers all but what it takes to continue. @throws Interrupted when the plugin stops before that
 */
export async function publishResult(context: TaskContext, control: RunControl, id: string): Promise<void> {
  const { journal, slots, approvals, speaker, board } = context;
  await learnOfHalted(context, control, id);
  slots.release(id);
  const ended = journal.peek(id);
  if (ended?.ending === undefined || !isFinal(ended.status) || ended.ending.told) return;
  await approvals?.end(id);
  await speaker.dropQuestion(ended);
  const rules = await context.settings.guild(ended.actor.guildId).get();
  // Who has stopped their own task knows.
  const isToKnow = ended.ending.byUserId !== ended.actor.userId;
  const mention = isToKnow ? pingedIn(ended, rules) : undefined;
  const { text, ids } = await speaker.sayEnding(ended, { recognise: control.recognise, mention });
  if (isToKnow) await context.notices.direct(ended, rules, keyOf(ended, 'ending'), 'ended');
  await context.notices.elsewhere(ended, control.recognise);
  // Nobody has seen it yet: whoever goes on after this run shows it, and finds what has been said.
  if (!(await board.finish(ended))) return;
  const over = await journal.amend(id, (draft) => {
    if (draft.ending !== undefined) draft.ending.told = true;
    keepSaid(draft, ids);
    if (draft.step !== undefined) logStep(draft, draft.step);
    // As much as it takes to continue.
    const { step } = draft;
    if (step !== undefined) draft.entries.push({ kind: 'step', n: step.n, text: step.text, calls: step.calls });
    Object.assign(draft, compact(draft, KEPT_TOKENS));
    delete draft.step;
    delete draft.outage;
    delete draft.question;
    delete draft.lease;
  });
  await attachMessages(context.accounts, over, ids);
  context.tell(messageOf(over, { key: keyOf(over, 'ending'), kind: 'ending', text }, ids));
}

/** Waits a little for the tool that was running, and notes how it ended; else that nobody knows. */
async function learnOfHalted(context: TaskContext, control: RunControl, id: string): Promise<void> {
  const { journal } = context;
  const task = journal.peek(id);
  const begun = task?.step?.calls.filter(({ state, name }) => state === 'begun' && name !== 'task_complete') ?? [];
  if (task?.ending?.told !== false || begun.length === 0) return;
  await Promise.all(begun.map(learn));
  control.underWay.clear();

  async function learn(call: Call): Promise<void> {
    const underWay = control.underWay.get(call.id);
    if (underWay === undefined && control.begunNow === call.id) {
      const stopped = changeCall(call.id, (one) => settleCall(one, 'failed', 'It was stopped before it ran.'));
      await journal.amend(id, stopped);
      return;
    }
    const outcome = underWay === undefined ? undefined : await until(inTime(context, underWay), context.signal);
    await journal.amend(id, (draft) => note(draft, call, outcome));
  }
}

function note(draft: Task, call: Call, outcome: Outcome | undefined): void {
  const known = outcome === undefined || outcome.status === 'deferred' ? undefined : told(outcome);
  const { kind, text, sources } = known ?? {
    kind: 'unknown' as const,
    text: 'It had not ended when the task was stopped.',
    sources: undefined,
  };
  changeCall(call.id, (one) => settleCall(one, kind, text, sources))(draft);
  if (kind === 'unknown')
    draft.unknowns.push(`${call.name}(${JSON.stringify(call.input).slice(0, 200)}) in step ${draft.step?.n ?? 0}`);
}

async function inTime({ clock }: TaskContext, outcome: Promise<Outcome>): Promise<Outcome | undefined> {
  const end = await withinLimit(clock, GRACE_MS, outcome).catch(() => undefined);
  return end?.inTime === true ? end.value : undefined;
}
