import {
  type Actor,
  billFor,
  type ChargedRequest,
  type Llm,
  type LlmCompletion,
  operatorSentenceOf,
  parseDuration,
  type ToolInfo,
  type ToolUseContent,
} from '@cinnabar/sdk';
import type { EvaluationCase } from './cases.js';

/** A model's answer to a case. */
export interface Answer {
  readonly asked: EvaluationCase;
  /** The calls that it made; none is executed. */
  readonly calls: readonly { readonly name: string; readonly input: unknown }[];
  /** The reason of a missing answer, which does not count as the model's mistake. */
  readonly failure?: string;
  /** Whether it called exactly the expected tool, or none when none is expected. */
  readonly isToolRight: boolean;
  /** Whether its call contains the expected arguments and all required ones. */
  readonly isInputRight: boolean;
  /** Tokens of prompt and answer. */
  readonly tokens: number;
  /** US dollars; `null` when the price is not known. */
  readonly cost: number | null;
  readonly ms: number;
}

interface EvaluateOptions {
  readonly llm: Pick<Llm, 'complete' | 'traits'>;
  /** A route in the notation of the setting; the configured one when it is left out. */
  readonly model: string | undefined;
  readonly tools: readonly ToolInfo[];
  readonly actor: Actor;
  /** Limit of the cost of all answers together, in US dollars. No request starts above it. */
  readonly maxCost: number;
  /** Called after each answer. */
  readonly onAnswer: (answered: number) => void;
}

/** Number of concurrent requests: providers limit them. */
const AT_ONCE = 4;
const SELF = 'Cinnabar';
const SYSTEM = `You are ${SELF}, a bot on a Discord server. Call a tool when one does what is asked, with what was said; otherwise answer in a sentence, and call none.`;
/** Enough tokens for the arguments of a call. */
const ANSWER_TOKENS = 1_000;

/** Sends all cases to a model. Cases that are missing in the answers were not sent, since `maxCost` was reached. */
export async function evaluate(cases: readonly EvaluationCase[], options: EvaluateOptions): Promise<readonly Answer[]> {
  const tools = new Map(options.tools.map((tool) => [tool.name, tool]));
  const price = (await options.llm.traits(options.model)).price;
  const answers: Answer[] = [];
  const waiting = [...cases];
  let spent = 0;
  const work = async () => {
    for (let next = waiting.shift(); next !== undefined && spent < options.maxCost; next = waiting.shift()) {
      const answer = await ask(next, tools, price, options);
      spent += answer.cost ?? 0;
      answers.push(answer);
      options.onAnswer(answers.length);
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, work));
  const order = new Map(cases.map((one, index) => [one, index]));
  return answers.sort((one, other) => (order.get(one.asked) ?? 0) - (order.get(other.asked) ?? 0));
}

type Price = Parameters<typeof billFor>[0][number]['price'];

async function ask(
  asked: EvaluationCase,
  tools: ReadonlyMap<string, ToolInfo>,
  price: Price,
  { llm, model, actor }: EvaluateOptions,
): Promise<Answer> {
  const request: ChargedRequest = {
    self: SELF,
    system: SYSTEM,
    messages: [{ participant: 'alice', content: [{ type: 'text', text: asked.say }] }],
    tools: asked.offered.flatMap((name) => tools.get(name) ?? []),
    maxTokens: ANSWER_TOKENS,
    charge: { actor, responder: 'eval', trigger: 'tools are being evaluated' },
    ...(model === undefined ? {} : { model }),
  };
  const startedAt = performance.now();
  try {
    const completion = await llm.complete(request);
    const { usage, cost } = billFor([{ usage: completion.usage, price }]);
    return {
      asked,
      ...judged(asked, completion, tools),
      tokens: usage.inputTokens + usage.outputTokens + usage.cacheCreationTokens + usage.cacheReadTokens,
      cost,
      ms: performance.now() - startedAt,
    };
  } catch (error) {
    const failure = operatorSentenceOf(error) ?? String(error);
    const ms = performance.now() - startedAt;
    return { asked, calls: [], failure, isToolRight: false, isInputRight: false, tokens: 0, cost: 0, ms };
  }
}

function judged(
  { tool, input }: EvaluationCase,
  { content }: LlmCompletion,
  tools: ReadonlyMap<string, ToolInfo>,
): Pick<Answer, 'calls' | 'isToolRight' | 'isInputRight'> {
  const calls: Answer['calls'] = content.flatMap((block): Answer['calls'] => {
    if (block.type === 'text') return [];
    return [{ name: block.name, input: block.type === 'tool_use' ? block.input : block.raw }];
  });
  if (tool === undefined) return { calls, isToolRight: calls.length === 0, isInputRight: calls.length === 0 };
  const isToolRight = calls.length > 0 && calls.every(({ name }) => name === tool);
  const required = requiredOf(tools.get(tool));
  const isInputRight = content.some(
    (block) =>
      block.type === 'tool_use' &&
      block.name === tool &&
      required.every((key) => key in block.input) &&
      Object.entries(input).every(([key, expected]) => isSame(expected, argumentOf(block, key))),
  );
  return { calls, isToolRight, isInputRight: isToolRight && isInputRight };
}

const argumentOf = ({ input }: ToolUseContent, key: string): unknown => input[key];

function requiredOf(tool: ToolInfo | undefined): readonly string[] {
  const { required } = tool?.inputSchema ?? {};
  return Array.isArray(required) ? required.filter((key) => typeof key === 'string') : [];
}

/** The text without case, quotes, punctuation and the brackets of mentions around a name, for a comparison. */
const folded = (text: string): string =>
  text
    .normalize('NFKC')
    .toLowerCase()
    .replace(/^<(?:@!?|@&|#)(\d+)>$/, '$1')
    .replace(/^["'“„‘]|["'”“’.!]$/g, '')
    .replace(/^[@#]/, '')
    .replace(/\s+/g, ' ')
    .trim();

/** Whether an argument has the expected meaning, as a tool would read it: `10m` is `10 minutes`, `"3"` is 3, a link is the id that it ends with. */
function isSame(expected: unknown, actual: unknown): boolean {
  if (Array.isArray(expected)) {
    const given = Array.isArray(actual) ? actual : typeof actual === 'string' ? actual.split(',') : [];
    return expected.every((one) => given.some((other) => isSame(one, other)));
  }
  if (typeof expected === 'object' && expected !== null) {
    if (typeof actual !== 'object' || actual === null) return false;
    const given = new Map(Object.entries(actual));
    return Object.entries(expected).every(([key, value]) => isSame(value, given.get(key)));
  }
  if (actual === undefined || actual === null) return false;
  const [wanted, got] = [folded(String(expected)), folded(String(actual))];
  if (wanted === got) return true;
  if (/^\d{15,}$/.test(wanted)) return got.endsWith(`/${wanted}`);
  const duration = parseDuration(wanted);
  return duration !== undefined && Number.isNaN(Number(wanted)) && duration === parseDuration(got);
}
