import { plainText, type TaskInfo, tokensOf, visible } from '@cinnabar/sdk';
import { labelOf, type Task } from '../task.js';

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
export function figures(task: Pick<Task, 'stepCount' | 'workedMs' | 'usage' | 'cost'>): string {
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
