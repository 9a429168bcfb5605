import {
  addUsage,
  BudgetExceededError,
  CinnabarError,
  type LlmCompletion,
  type LlmRequest,
  sentenceOf,
  t,
  type WorkCharge,
  type WorkDetails,
} from '@cinnabar/sdk';
import { pause, type Rules, type RunControl, say, type TaskContext, until, workIdOf } from '../context.js';
import { messagesOf, systemPrompt } from '../prompt/prompt.js';
import { redactForModel } from '../prompt/redaction.js';
import { actorOf, type Call, labelOf, type Step, type Task } from '../task.js';
import { beginCall, markFinished } from './complete-step.js';
import { controlTools } from './control-calls.js';
import { isToolCall, START_TOOL } from './execute-step.js';

const FIRST_RETRY_MS = 2_000;

/** Requests the next step from the model, and writes the response before its effects. */
export async function requestStep(context: TaskContext, control: RunControl, id: string, rules: Rules): Promise<void> {
  const { journal, llm } = context;
  if (llm === undefined) {
    const text = t('No language model is set up. The owner of the bot can load the `llm` plugin and configure one.');
    return markFinished(context, id, 'error', { kind: 'failed', text });
  }
  const task = await journal.move(id, 'thinking', (draft) => {
    delete draft.waitsSince;
    delete draft.reminded;
  });
  const request = await promptOf(context, task, rules);
  const charge = chargeFor(task);
  const endTyping = context.board.showTyping(task);
  try {
    // The receipt is written before the step: after a crash in between, the repeated request overwrites it.
    if (control.interrupted.aborted) throw new CinnabarError('CINNABAR_LLM_CANCELLED');
    const { interrupted } = control;
    const completion = await until(llm.complete({ ...request, charge, signal: interrupted }), interrupted);
    endTyping();
    const { cost = null } = (await llm.finishWork(charge, workDetailsOf(task, completion))) ?? {};
    if (control.stopped.aborted) return;
    const step = { text: textOf(completion), calls: questionFirst(callsOf(completion)) };
    // A tool call at the start of the step is marked as begun in the same write.
    const first = control.interrupted.aborted ? undefined : firstTool(step);
    control.begunNow = first?.id;
    await journal.move(id, first === undefined ? 'running' : 'tool_executing', (draft) => {
      draft.stepCount += 1;
      draft.usage = addUsage(draft.usage, completion.usage);
      draft.cost = draft.cost === null || cost === null ? null : draft.cost + cost;
      draft.circles.failures = 0;
      delete draft.outage;
      draft.step = { n: draft.stepCount, ...step };
      if (first !== undefined) beginCall(first.id)(draft);
    });
  } catch (error) {
    if (error instanceof BudgetExceededError) {
      return await markFinished(context, id, 'completed', { kind: 'limit', text: error.message });
    }
    await onFailure(context, control, id, error);
  } finally {
    endTyping();
    await llm.finishWork(charge);
  }
}

async function promptOf({ tools, provenance, selfName }: TaskContext, task: Task, rules: Rules): Promise<LlmRequest> {
  const self = selfName(task.actor.guildId);
  const shown = await redactForModel(task, (sources) => provenance.mayShow(sources, [actorOf(task)]));
  const offered = (await tools.offered(actorOf(task))).filter(({ name }) => name !== START_TOOL);
  return {
    self,
    system: systemPrompt(self, rules, task.background?.instructions),
    messages: messagesOf(shown, self),
    tools: [
      ...controlTools(),
      ...offered.map(({ name, description, inputSchema, examples }) => ({ name, description, inputSchema, examples })),
    ],
    cache: { tools: { type: 'ephemeral' }, system: { type: 'ephemeral' } },
  };
}

/**
 * Handles an error of a request. Errors that a retry cannot fix end the task. During an outage the task waits. After any other error it retries with growing
 * delays until the loop detector ends the task.
 */
async function onFailure(context: TaskContext, control: RunControl, id: string, error: unknown): Promise<void> {
  if (control.interrupted.aborted || !(error instanceof CinnabarError)) throw error;
  if (!error.code.startsWith('CINNABAR_LLM_')) throw error;
  if (HOPELESS.has(error.code)) {
    const text = sentenceOf(error) ?? t('The language model cannot be used for this.');
    return markFinished(context, id, 'error', { kind: 'failed', text });
  }
  context.log.info('a step of a task could not be asked for', { taskId: id, error });
  if (PASSING.has(error.code)) return waitOutOutage(context, control, id);
  const { circles } = await context.journal.move(id, 'running', (draft) => {
    draft.circles.failures += 1;
  });
  await pause(context.clock, FIRST_RETRY_MS * 2 ** (circles.failures - 1), control.interrupted);
}

const HOPELESS: ReadonlySet<string> = new Set([
  'CINNABAR_LLM_NOT_CONFIGURED',
  'CINNABAR_LLM_REFUSED',
  'CINNABAR_LLM_UNSUPPORTED',
]);

/** The host tool call that a step begins with, if any. */
function firstTool({ text, calls }: Pick<Step, 'text' | 'calls'>): Call | undefined {
  const call = calls.find(({ state }) => state !== 'done');
  return call === undefined || text !== '' || !isToolCall(call) ? undefined : call;
}

const textOf = ({ content }: LlmCompletion) =>
  content
    .map((block) => (block.type === 'text' ? block.text : ''))
    .join('')
    .trim();

/** The calls of a response, with ids that are unique in the step, whatever ids the model uses. */
function callsOf({ content, droppedCalls = 0 }: LlmCompletion): Call[] {
  const used = new Set<string>();
  const calls = content.flatMap((block): Call[] => {
    if (block.type === 'text') return [];
    const { name } = block;
    const id = used.has(block.id) ? `${block.id}_${used.size}` : block.id;
    used.add(id);
    if (block.type === 'tool_use') return [{ id, name, input: { ...block.input }, state: 'open', attempt: 1 }];
    return [unreadable(id, name, `the arguments could not be read, because ${block.reason}`)];
  });
  const last = calls.at(-1);
  if (droppedCalls === 0 || last === undefined) return calls;
  const more = `this call and ${droppedCalls - 1} more are beyond what one answer may ask for`;
  return [...calls, unreadable(`${last.id}_dropped`, last.name, more)];
}

const HELD =
  'Not run: you asked the user in the same answer, and what they say comes first. Make this call again if it is still wanted then.';

/** If a response asks the user, its other calls are not executed: the model first reads the answer. */
function questionFirst(calls: readonly Call[]): Call[] {
  const question = calls.find(({ name, unreadable: why }) => name === 'ask_user' && why === undefined);
  if (question === undefined) return [...calls];
  return calls.map((call) => (call === question ? call : { ...call, state: 'done', outcome: 'held', result: HELD }));
}

function unreadable(id: string, name: string, why: string): Call {
  return { id, name, input: {}, unreadable: why, state: 'open', attempt: 1 };
}

const FIRST_PAUSE_MS = 2_000;
const LONGEST_PAUSE_MS = 300_000;
/** Number of failures before a message is sent, because a single one usually passes quickly. */
const REPORTED_AFTER = 2;

/** Failures of the model's service that pass without intervention. */
const PASSING: ReadonlySet<string> = new Set([
  'CINNABAR_LLM_UNAVAILABLE',
  'CINNABAR_LLM_PAUSED',
  'CINNABAR_LLM_RATE_LIMITED',
  'CINNABAR_LLM_TIMEOUT',
]);

/**
 * Waits longer after each failure, sends one message about the outage, and returns for the next attempt. The time counts as work, so the task's own limit ends
 * the wait. @throws Interrupted
 */
async function waitOutOutage(context: TaskContext, control: RunControl, id: string): Promise<void> {
  const { journal, clock } = context;
  const now = clock.now();
  const task = await journal.move(id, 'running', (draft) => {
    const { since = now, failures = 0, told = false } = draft.outage ?? {};
    draft.outage = { since, failures: failures + 1, told };
  });
  const { since = now, failures = 1, told = false } = task.outage ?? {};
  if (failures >= REPORTED_AFTER && !told) {
    const text = t(
      '📡 The language model cannot be reached at the moment. I wait, and go on by myself as soon as it answers. Nothing is lost.',
    );
    await say(context, control, task, { key: `outage:${since}`, kind: 'warning', text }, (draft) => {
      if (draft.outage !== undefined) draft.outage.told = true;
    });
  }
  await pause(clock, Math.min(FIRST_PAUSE_MS * 2 ** (failures - 1), LONGEST_PAUSE_MS), control.interrupted);
}

/** The account of the next step; a step that is repeated after a crash has the same receipt. */
function chargeFor(task: Task): WorkCharge {
  const n = task.stepCount + 1;
  return {
    actor: actorOf(task),
    responder: 'tasks',
    trigger: t('I worked on the task {task}, step {step}', { task: labelOf(task), step: n }),
    work: workIdOf(task, n),
  };
}

/** The details of a step for `!why`, without its cost. */
function workDetailsOf(task: Task, { content }: LlmCompletion): WorkDetails {
  return {
    tools: content.flatMap((block) => (block.type === 'text' ? [] : [{ name: block.name, outcome: 'asked for' }])),
    details: [t('Task: {prompt}', { prompt: task.prompt.slice(0, 200) })],
  };
}
