import { plainText, visible } from '@cinnabar/sdk';
import { labelOf, type Task } from '../model/task.js';
import { figures } from './figures.js';

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
