import { asNotice, noticeLine, plainText, type TaskInfo, type TaskStatus, tokensOf, visible } from '@cinnabar/sdk';
import { type Ending, labelOf, type Task } from '../task.js';

const SHOWN_PROMPT = 300;

const STATUS_WORDS: Readonly<Record<TaskStatus, string>> = {
  queued: '⏳ waiting for room',
  running: '⚙️ working',
  thinking: '💭 thinking',
  tool_executing: '🔧 running',
  waiting_approval: '✋ waiting for approval of',
  waiting_user: '❓ waiting for an answer',
  waiting_time: '💤 waiting until it is time to go on',
  paused: '⏸️ paused',
  completed: '✅ complete',
  cancelled: '🛑 stopped',
  error: '❌ ended',
};

/** One that has a place among those that wait for room waits for it; another one is about to go on. */
export function statusWords(status: TaskStatus, place: number | undefined): string {
  return status === 'queued' && place === undefined ? '⏳ about to go on' : STATUS_WORDS[status];
}

const NO_MODEL = '📡 waiting for the language model, which cannot be reached at the moment';

const ENDED: Readonly<Record<Ending['kind'], string>> = {
  complete: '✅ **Task complete**',
  limit: '⏹️ **Task ended at a limit**',
  stopped: '🛑 **Task stopped**',
  breaker: '🔁 **Task ended: it was going in circles**',
  failed: '❌ **Task failed**',
  gone: '🚪 **Task ended**',
};

/** What was asked for, on one harmless line. */
export function promptLine({ prompt }: Pick<Task, 'prompt'>, most = SHOWN_PROMPT): string {
  const line = visible(prompt.replaceAll(/\s+/g, ' ').trim());
  return plainText(line.length <= most ? line : `${line.slice(0, most)}…`);
}

/** @param place among those that wait for room, from 1 */
export function statusText(task: Task, place: number | undefined): string {
  const { status, pausing, pausedByHost, ending, step } = task;
  const tool = step?.calls.find(({ state }) => state === 'begun')?.name;
  const wakeAt = status === 'waiting_time' ? step?.calls.find(({ state }) => state !== 'done')?.wakeAt : undefined;
  const busy = status === 'tool_executing' || status === 'waiting_approval';
  const where = status === 'queued' && place !== undefined ? `, place ${place}` : '';
  const isAway = task.outage !== undefined && (status === 'running' || status === 'thinking');
  const now = isAway ? NO_MODEL : statusWords(status, place);
  const words = ending === undefined ? now : ENDED[ending.kind].replaceAll('**', '');
  const what = busy && tool !== undefined ? `${words} \`${tool}\`` : `${words}${where}`;
  const notes = [
    wakeAt === undefined ? '' : ` (<t:${Math.floor(wakeAt / 1_000)}:t>)`,
    pausing ? ' (pausing as soon as it can)' : '',
    pausedByHost ? ' (tasks are switched off here at the moment)' : '',
  ];
  return asNotice(
    [`**Task ${labelOf(task)}** · ${what}${notes.join('')}`, `> ${promptLine(task)}`, `-# ${figures(task)}`].join('\n'),
  );
}

/** The line under everything that a task says: it tells the steps, and the tasks of one channel, apart. */
export const badge = (task: Pick<Task, 'id'>, n: number, hint = ''): string =>
  noticeLine(`-# step ${n} · task ${labelOf(task)}${hint}`);

/** What is said at the end: how it ended and its figures stay in the message where the text between them is too long for messages. */
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
    ...(short ? [] : [`Done: ${doneIn(task)}`]),
    ...(halted.length === 0 ? [] : [`Halted: ${halted.map((name) => haltedLine(task, name)).join(', ')}`]),
    ...(unknowns.length === 0
      ? []
      : ['Nobody knows whether these took effect:', ...unknowns.map((line) => `- ${inert(line)}`)]),
    ...(short || unknowns.length > 0 ? [] : ['Unknown: nothing']),
  ];
  const figuresLine = `-# ${figures(task)} · task ${labelOf(task)}`;
  const ended = `${ENDED[kind]}${mention === undefined ? '' : ` · <@${mention}>`}`;
  // How it ended otherwise is for the host to say.
  const foot = short ? noticeLine(figuresLine) : asNotice(figuresLine);
  return { head: `${noticeLine(ended)}\n`, text: lines.join('\n'), foot: `\n${foot}` };
}

function doneIn({ log, step }: Task): string {
  const counts = new Map<string, number>();
  const done = [
    ...log.filter(({ outcome }) => outcome === 'done').map(({ tool }) => tool),
    ...(step?.calls ?? []).filter(({ outcome }) => outcome === 'done').map(({ name }) => name),
  ];
  for (const name of done) counts.set(name, (counts.get(name) ?? 0) + 1);
  if (counts.size === 0) return 'nothing with a tool';
  return [...counts].map(([name, count]) => (count === 1 ? `\`${name}\`` : `\`${name}\` × ${count}`)).join(', ');
}

function haltedLine({ step }: Task, name: string): string {
  const call = step?.calls.find((one) => one.name === name && one.outcome !== undefined);
  if (call?.outcome === undefined) return `\`${name}\``;
  return `\`${name}\` (${call.outcome === 'expired' ? 'not decided' : call.outcome})`;
}

const inert = (text: string) => plainText(visible(text));

const LIMIT = 2_000;
const SHORT = 140;

type Line = Task['log'][number];

const SIGNS: Readonly<Record<string, string>> = {
  done: '✓',
  told: '✓',
  unknown: '❔',
  expired: '⌛ not decided',
  held: '⏸ held back',
};

/** What the tools of a task were given and returned: in short, and in full in a file where that is longer. */
export function detailsOf(task: Task) {
  const lines = [...task.log, ...underWay(task)];
  const head = `**Task ${labelOf(task)}** · ${figures(task)}`;
  if (lines.length === 0) return { content: `${head}\nNo tool has been called yet.` };
  const all = [head, ...lines.map(inShort)].join('\n');
  const full = lines.map(inFull).join('\n\n');
  const attached = all.length > LIMIT || lines.some(({ result }) => result.length > SHORT);
  const content = all.length <= LIMIT ? all : `${[head, ...fitting(lines)].join('\n')}\n…`;
  if (!attached) return { content };
  return { content, files: [{ name: `task-${labelOf(task)}.txt`, attachment: Buffer.from(full) }] };
}

/** The step that is not over yet. */
function underWay({ step }: Task): Line[] {
  return (step?.calls ?? []).map(({ name, input, outcome, result = '', state }) => ({
    n: step?.n ?? 0,
    tool: name,
    input: JSON.stringify(input),
    outcome: outcome ?? (state === 'begun' ? 'under way' : 'not begun'),
    result,
  }));
}

/** The latest lines, as many as there is room for. */
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
  return `${n}. \`${tool}\` ${SIGNS[outcome] ?? `✗ ${outcome}`}${said}`;
}

const inFull = ({ n, tool, input, outcome, result }: Line) => `Step ${n}: ${tool}\n${input}\n→ ${outcome}\n${result}`;

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

/** `$0.0031`, `$1.25`; nothing where no price is known. */
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
    `${steps} ${steps === 1 ? 'step' : 'steps'}`,
    duration(workedMs),
    `${tokens.toLocaleString('en-US')} tokens`,
    dollars(cost),
  ]
    .filter((part) => part !== undefined)
    .join(' · ');
}
