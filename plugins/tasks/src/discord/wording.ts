import {
  asNotice,
  noticeLine,
  plainText,
  type TaskInfo,
  type TaskStatus,
  t,
  tokensOf,
  translated,
  visible,
} from '@cinnabar/sdk';
import { type Ending, labelOf, type Task } from '../task.js';

const SHOWN_PROMPT = 300;

/** The answer to a slash command that started a task. */
export const begunText = (link: string | undefined): string =>
  link === undefined ? t('I have begun: it is in this channel') : t('I have begun: {link}', { link });

/**
 * The state of a task.
 * @param place its place in the queue for a slot, from 1; without one, the task is about to continue
 * @param toolName the tool that runs, or waits for its approval
 */
export function statusWords(status: TaskStatus, place: number | undefined, toolName: string | undefined): string {
  const tool = toolName === undefined ? '' : `\`${toolName}\``;
  switch (status) {
    case 'queued':
      return place === undefined ? t('⏳ about to go on') : t('⏳ waiting for room, place {place}', { place });
    case 'running':
      return t('⚙️ working');
    case 'thinking':
      return t('💭 thinking');
    case 'tool_executing':
      return tool === '' ? t('🔧 running') : t('🔧 running {tool}', { tool });
    case 'waiting_approval':
      return tool === '' ? t('✋ waiting for approval') : t('✋ waiting for approval of {tool}', { tool });
    case 'waiting_user':
      return t('❓ waiting for an answer');
    case 'waiting_time':
      return t('💤 waiting until it is time to go on');
    case 'paused':
      return t('⏸️ paused');
    case 'completed':
      return t('✅ complete');
    case 'cancelled':
      return t('🛑 stopped');
    case 'error':
      return t('❌ ended');
  }
}

function endedWords(kind: Ending['kind']): string {
  const words: Readonly<Record<Ending['kind'], string>> = {
    complete: t('✅ **Task complete**'),
    limit: t('⏹️ **Task ended at a limit**'),
    stopped: t('🛑 **Task stopped**'),
    breaker: t('🔁 **Task ended: it was going in circles**'),
    failed: t('❌ **Task failed**'),
    gone: t('🚪 **Task ended**'),
  };
  return words[kind];
}

/** The goal, as one line without markup. */
export function promptLine({ prompt }: Pick<Task, 'prompt'>): string {
  const line = visible(prompt.replaceAll(/\s+/g, ' ').trim());
  return plainText(line.length <= SHOWN_PROMPT ? line : `${line.slice(0, SHOWN_PROMPT)}…`);
}

/** The title of a task in a message; its label comes last. */
const nameOf = (task: Task) => t('**Task {task}**', { task: labelOf(task) });

/** @param place its place in the queue for a slot, from 1 */
export function statusText(task: Task, place: number | undefined): string {
  const { status, pausing, pausedByHost, ending, step } = task;
  const tool = step?.calls.find(({ state }) => state === 'begun')?.name;
  const wakeAt = status === 'waiting_time' ? step?.calls.find(({ state }) => state !== 'done')?.wakeAt : undefined;
  const isAway = task.outage !== undefined && (status === 'running' || status === 'thinking');
  const now = isAway
    ? t('📡 waiting for the language model, which cannot be reached at the moment')
    : statusWords(status, place, tool);
  const what = ending === undefined ? now : endedWords(ending.kind).replaceAll('**', '');
  const notes = [
    wakeAt === undefined ? '' : ` (<t:${Math.floor(wakeAt / 1_000)}:t>)`,
    pausing ? ` ${t('(pausing as soon as it can)')}` : '',
    pausedByHost ? ` ${t('(tasks are switched off here at the moment)')}` : '',
  ];
  return asNotice(
    [`${nameOf(task)} · ${what}${notes.join('')}`, `> ${promptLine(task)}`, `-# ${figures(task)}`].join('\n'),
  );
}

/** The line below every message of a task, which distinguishes its steps, and the tasks of one channel. */
export const badge = (task: Pick<Task, 'id'>, n: number, hint = ''): string =>
  noticeLine(`-# ${t('step {step} · task {task}', { step: n, task: labelOf(task) })}${hint}`);

/** The final text. If it is too long for messages, outcome and figures stay in the message, and the rest becomes a file. */
export function endingText(
  task: Task,
  mention?: string,
): { readonly head: string; readonly text: string; readonly foot: string } {
  const { ending, unknowns } = task;
  if (ending === undefined) return { head: '', text: '', foot: '' };
  const { kind, text, halted } = ending;
  const short = kind === 'complete';
  const lines = [
    text,
    ...(short ? [] : [doneText(task)]),
    ...(halted.length === 0
      ? []
      : [t('Halted: {tools}', { tools: halted.map((name) => haltedLine(task, name)).join(', ') })]),
    ...(unknowns.length === 0
      ? []
      : [t('It is not known whether these took effect:'), ...unknowns.map((line) => `- ${inert(line)}`)]),
    ...(short || unknowns.length > 0 ? [] : [t('Unknown: nothing')]),
  ];
  const figuresLine = `-# ${figures(task)} · ${t('task {task}', { task: labelOf(task) })}`;
  const ended = `${endedWords(kind)}${mention === undefined ? '' : ` · <@${mention}>`}`;
  // For other outcomes, the host writes the text, so it is a notice.
  const foot = short ? noticeLine(figuresLine) : asNotice(figuresLine);
  return { head: `${noticeLine(ended)}\n`, text: lines.join('\n'), foot: `\n${foot}` };
}

function doneText({ log, step }: Task): string {
  const counts = new Map<string, number>();
  const done = [
    ...log.filter(({ outcome }) => outcome === 'done').map(({ tool }) => tool),
    ...(step?.calls ?? []).filter(({ outcome }) => outcome === 'done').map(({ name }) => name),
  ];
  for (const name of done) counts.set(name, (counts.get(name) ?? 0) + 1);
  if (counts.size === 0) return t('Done: nothing with a tool');
  const tools = [...counts].map(([name, count]) => (count === 1 ? `\`${name}\`` : `\`${name}\` × ${count}`)).join(', ');
  return t('Done: {tools}', { tools });
}

function haltedLine({ step }: Task, name: string): string {
  const call = step?.calls.find((one) => one.name === name && one.outcome !== undefined);
  if (call?.outcome === undefined) return `\`${name}\``;
  return `\`${name}\` (${call.outcome === 'expired' ? t('not decided') : outcomeWord(call.outcome)})`;
}

const inert = (text: string) => plainText(visible(text));

const LIMIT = 2_000;
const SHORT = 140;

type Line = Task['log'][number];

/** The word for a call's outcome, or for a running call. */
export function outcomeWord(outcome: string): string {
  const words: Readonly<Record<string, string>> = {
    done: t('done'),
    told: t('told'),
    failed: t('failed'),
    denied: t('denied'),
    expired: t('expired'),
    held: t('held'),
    unknown: t('unknown'),
    'not run': t('not run'),
    'under way': t('under way'),
    'not begun': t('not begun'),
  };
  return words[outcome] ?? outcome;
}

function outcomeSign(outcome: string): string {
  switch (outcome) {
    case 'done':
    case 'told':
      return '✓';
    case 'unknown':
      return '❔';
    case 'expired':
      return t('⌛ not decided');
    case 'held':
      return t('⏸ held back');
    default:
      return `✗ ${outcomeWord(outcome)}`;
  }
}

/** The inputs and results of a task's tool calls: shortened, with the full text in a file if it is longer. */
export function detailsOf(task: Task) {
  // The text about calls is stored in English, for the model.
  const lines = [...task.log, ...runningCalls(task)].map((one) => ({ ...one, result: translated(one.result) }));
  const head = `${nameOf(task)} · ${figures(task)}`;
  if (lines.length === 0) return { content: `${head}\n${t('No tool has been called yet.')}` };
  const all = [head, ...lines.map(inShort)].join('\n');
  const full = lines.map(inFull).join('\n\n');
  const attached = all.length > LIMIT || lines.some(({ result }) => result.length > SHORT);
  const content = all.length <= LIMIT ? all : `${[head, ...fitting(lines)].join('\n')}\n…`;
  if (!attached) return { content };
  return { content, files: [{ name: `task-${labelOf(task)}.txt`, attachment: Buffer.from(full) }] };
}

/** The calls of the current step. */
export function runningCalls({ step }: Task): Line[] {
  return (step?.calls ?? []).map(({ name, input, outcome, result = '', state }) => ({
    n: step?.n ?? 0,
    tool: name,
    input: JSON.stringify(input),
    outcome: outcome ?? (state === 'begun' ? 'under way' : 'not begun'),
    result,
  }));
}

/** The latest lines that fit. */
function fitting(lines: readonly Line[]): string[] {
  const kept: string[] = [];
  let length = 0;
  for (const line of lines.toReversed()) {
    const text = inShort(line);
    length += text.length + 1;
    if (length > LIMIT - 200) break;
    kept.unshift(text);
  }
  return kept;
}

function inShort({ n, tool, outcome, result }: Line): string {
  const said = result === '' ? '' : `: ${plainText(visible(cut(result)))}`;
  return `${n}. \`${tool}\` ${outcomeSign(outcome)}${said}`;
}

const inFull = ({ n, tool, input, outcome, result }: Line) =>
  `${t('Step {step}: {tool}', { step: n, tool })}\n${input}\n→ ${outcomeWord(outcome)}\n${result}`;

const cut = (text: string) => {
  const line = text.replaceAll(/\s+/g, ' ');
  return line.length <= SHORT ? line : `${line.slice(0, SHORT)}…`;
};

const SECOND_MS = 1_000;

/** `1 h 2 min`, `3 min 4 s`, `5 s`. */
function duration(ms: number): string {
  const seconds = Math.round(ms / SECOND_MS);
  const [hours, minutes] = [Math.floor(seconds / 3_600), Math.floor(seconds / 60) % 60];
  if (hours > 0) return `${hours} h ${minutes} min`;
  return minutes > 0 ? `${minutes} min ${seconds % 60} s` : `${seconds} s`;
}

/** `$0.0031`, `$1.25`; empty when no price is known. */
function dollars(cost: number | null): string | undefined {
  if (cost === null) return undefined;
  return `$${cost === 0 || cost >= 0.1 ? cost.toFixed(2) : cost.toPrecision(2)}`;
}

/** Steps, time, tokens and cost in one line. */
function figures(task: Pick<Task, 'stepCount' | 'workedMs' | 'usage' | 'cost'>): string {
  return line(task.stepCount, task.workedMs, tokensOf(task.usage), task.cost);
}
export const figuresOfInfo = ({ stepCount, workedMs, tokens, cost }: TaskInfo): string =>
  line(stepCount, workedMs, tokens, cost);

function line(steps: number, workedMs: number, tokens: number, cost: number | null): string {
  return [
    t('{steps, plural, one {# step} other {# steps}}', { steps }),
    duration(workedMs),
    t('{tokens, number} tokens', { tokens }),
    dollars(cost),
  ]
    .filter((part) => part !== undefined)
    .join(' · ');
}
