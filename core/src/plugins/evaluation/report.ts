import { formatCount, formatUsd } from '@cinnabar/sdk';
import type { Answer } from './evaluate.js';

/** A model's results in numbers. Failures of the provider are counted separately. */
interface Score {
  readonly asked: number;
  /** Cases with an expected tool. */
  readonly forTool: number;
  readonly rightTool: number;
  readonly rightInput: number;
  /** Cases without an expected tool. */
  readonly forNone: number;
  readonly silent: number;
  readonly failures: number;
  readonly tokens: number;
  /** US dollars; `null` when the price is not known. */
  readonly cost: number | null;
  /** Median duration of an answer, in ms. */
  readonly ms: number;
}

/** A model's results. `cinnabar eval --json` prints one of these for each model. */
export interface ModelReport {
  readonly model: string;
  readonly provider: string;
  /** Percentage of answers that are right: tool, arguments, or no call. */
  readonly right: number;
  readonly total: Score;
  readonly plugins: readonly (Score & { readonly plugin: string })[];
  readonly tools: readonly (Score & { readonly plugin: string; readonly tool: string })[];
  readonly mistakes: readonly Mistake[];
  /** Number of cases that were not sent, since `--max-cost` was reached. */
  readonly notAsked: number;
}

interface Mistake {
  readonly plugin: string;
  readonly say: string;
  /** `null` when no tool is expected. */
  readonly tool: string | null;
  readonly input: Readonly<Record<string, unknown>>;
  readonly calls: Answer['calls'];
  readonly failure?: string;
}

const isRight = ({ isToolRight, isInputRight }: Answer): boolean => isToolRight && isInputRight;

export function reportOf(
  { model, provider }: { readonly model: string; readonly provider: string },
  answers: readonly Answer[],
  notAsked: number,
): ModelReport {
  const answered = answers.filter(({ failure }) => failure === undefined);
  return {
    model,
    provider,
    right: answered.length === 0 ? 0 : (100 * answered.filter(isRight).length) / answered.length,
    total: scoreOf(answers),
    plugins: [...grouped(answers, ({ asked }) => asked.plugin)].map(([plugin, own]) => ({ plugin, ...scoreOf(own) })),
    tools: [...grouped(answers, ({ asked }) => asked.tool)].flatMap(([tool, own]) =>
      tool === undefined ? [] : [{ plugin: own[0]?.asked.plugin ?? '', tool, ...scoreOf(own) }],
    ),
    mistakes: answers
      .filter((answer) => !isRight(answer))
      .map(({ asked: { plugin, say, tool = null, input }, calls, failure }) => ({
        plugin,
        say,
        tool,
        input,
        calls,
        ...(failure === undefined ? {} : { failure }),
      })),
    notAsked,
  };
}

function grouped<K>(answers: readonly Answer[], keyOf: (answer: Answer) => K): ReadonlyMap<K, readonly Answer[]> {
  const groups = new Map<K, Answer[]>();
  for (const answer of answers) {
    const key = keyOf(answer);
    const group = groups.get(key);
    if (group === undefined) groups.set(key, [answer]);
    else group.push(answer);
  }
  return groups;
}

function scoreOf(answers: readonly Answer[]): Score {
  const answered = answers.filter(({ failure }) => failure === undefined);
  const forTool = answered.filter(({ asked }) => asked.tool !== undefined);
  const forNone = answered.filter(({ asked }) => asked.tool === undefined);
  const times = answered.map(({ ms }) => ms).sort((one, other) => one - other);
  return {
    asked: answers.length,
    forTool: forTool.length,
    rightTool: forTool.filter(({ isToolRight }) => isToolRight).length,
    rightInput: forTool.filter(isRight).length,
    forNone: forNone.length,
    silent: forNone.filter(isRight).length,
    failures: answers.length - answered.length,
    tokens: answers.reduce((sum, { tokens }) => sum + tokens, 0),
    cost: answers.reduce<number | null>((sum, { cost }) => (sum === null || cost === null ? null : sum + cost), 0),
    ms: Math.round(times[Math.floor(times.length / 2)] ?? 0),
  };
}

/** Maximum number of mistakes that are printed in full. */
const MISTAKES = 20;

/** A model's results for people: a table of tools and plugins, and the mistakes. */
export function linesOf({
  model,
  provider,
  right,
  total,
  plugins,
  tools,
  mistakes,
  notAsked,
}: ModelReport): readonly string[] {
  const rows = plugins.flatMap((plugin) => [
    ...tools.filter((tool) => tool.plugin === plugin.plugin).map((tool) => rowOf(`  ${tool.tool}`, tool)),
    rowOf(`${plugin.plugin}, in all`, plugin),
  ]);
  const head = ['', 'asked', 'right tool', 'arguments', 'silent', 'tokens', 'cost', 'median'];
  const shown = mistakes.slice(0, MISTAKES);
  return [
    `${model} (${provider}): ${right.toFixed(1)} % right, ${total.asked} asked.`,
    '',
    ...table([head, ...rows, rowOf('all', total)]),
    ...(mistakes.length === 0 ? [] : ['', 'What was not right:', ...shown.map(mistakeLine)]),
    ...(mistakes.length > shown.length ? [`… and ${mistakes.length - shown.length} more: --json has all.`] : []),
    ...(notAsked === 0 ? [] : ['', `${notAsked} were not asked, since --max-cost was reached.`]),
  ];
}

const part = (some: number, all: number): string => (all === 0 ? '' : `${some}/${all}`);

const rowOf = (name: string, score: Score): readonly string[] => [
  name,
  String(score.asked),
  part(score.rightTool, score.forTool),
  part(score.rightInput, score.forTool),
  part(score.silent, score.forNone),
  formatCount(score.tokens),
  score.cost === null ? '?' : formatUsd(score.cost),
  `${(score.ms / 1_000).toFixed(1)} s`,
];

/** The first column is left-aligned, the numbers right-aligned. */
function table(rows: readonly (readonly string[])[]): readonly string[] {
  const widths = (rows[0] ?? []).map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0)));
  return rows.map((row) =>
    row
      .map((cell, column) => (column === 0 ? cell.padEnd(widths[0] ?? 0) : cell.padStart(widths[column] ?? 0)))
      .join('  ')
      .trimEnd(),
  );
}

function mistakeLine({ say, tool, input, calls, failure }: Mistake): string {
  if (failure !== undefined) return `  “${say}”: no answer: ${failure}`;
  const wanted = tool === null ? 'nothing' : callText({ name: tool, input });
  const got = calls.length === 0 ? 'nothing' : calls.map(callText).join(', ');
  return `  “${say}”: called ${got}; right is ${wanted}`;
}

const callText = ({ name, input }: Answer['calls'][number]): string => `${name} ${JSON.stringify(input)}`;
