import {
  CinnabarError,
  type Llm,
  type LlmCompletion,
  type LlmRequest,
  type ParticipantMessage,
  type ToolResultContent,
  type Tools,
  type ToolUseContent,
  type Turn,
} from '@cinnabar/sdk';
import { CUT_OFF, MALFORMED, nothingSaid, tooManyRounds } from './sentences.js';

export interface RoundsParts {
  readonly turn: Turn;
  readonly llm: Llm;
  readonly tools: Tools;
  readonly maxToolDepth: number;
  readonly signal: AbortSignal;
  /** A call was held; `afterId` is the message it follows, `step` is shared by the calls of one completion. */
  onHeld(call: {
    readonly callId: string;
    readonly use: ToolUseContent;
    readonly afterId: string | undefined;
    readonly step: string;
  }): Promise<void>;
}

interface Invoked {
  readonly result: ToolResultContent;
  /** What a call that ran has to say. */
  readonly done: string | undefined;
  readonly held: boolean;
}

/**
 * Lets the model speak and call tools until it is done, all it asked for is held, or the rounds are used up.
 * Text beside calls is sent before them, so that it stands above their cards.
 */
export async function runRounds(request: LlmRequest, parts: RoundsParts): Promise<void> {
  const { turn, llm, maxToolDepth, signal } = parts;
  let messages: readonly ParticipantMessage[] = request.messages;
  let lastId = turn.message?.id;
  let results: readonly Invoked[] = [];
  for (let round = 0; ; round += 1) {
    const completion = await llm.complete({ ...request, messages, signal });
    const { text, uses } = readCompletion(completion);
    if (text !== '') lastId = (await turn.reply(text)).id;
    const remark = remarkOn(completion, results, round >= maxToolDepth ? maxToolDepth : undefined);
    if (remark !== undefined) await turn.reply(remark);
    if (uses.length === 0 || round >= maxToolDepth) return;
    results = await invokeAll(uses, lastId, parts);
    if (results.every(({ held }) => held)) return;
    messages = [
      ...messages,
      { participant: request.self, content: [...(text === '' ? [] : [{ type: 'text' as const, text }]), ...uses] },
      { participant: request.self, content: results.map(({ result }) => result) },
    ];
  }
}

/** What has to be said about a completion beside its text. */
function remarkOn(
  completion: LlmCompletion,
  results: readonly Invoked[],
  exhausted: number | undefined,
): string | undefined {
  const { text, uses } = readCompletion(completion);
  if (completion.content.some(({ type }) => type === 'malformed_tool_use')) return MALFORMED;
  if (uses.length > 0) return exhausted === undefined ? undefined : tooManyRounds(exhausted);
  if (text === '') return spoken(results) ?? nothingSaid(completion.stopReason);
  return completion.stopReason === 'max_tokens' ? CUT_OFF : undefined;
}

/** One after another: what the first changes, the second sees. */
async function invokeAll(
  uses: readonly ToolUseContent[],
  afterId: string | undefined,
  { turn, tools, signal, onHeld }: RoundsParts,
): Promise<readonly Invoked[]> {
  const results: Invoked[] = [];
  let step: string | undefined;
  for (const use of uses) {
    if (signal.aborted) throw new CinnabarError('CINNABAR_LLM_CANCELLED');
    const outcome = await tools.invoke({
      name: use.name,
      arguments: use.input,
      actor: turn.actor,
      signal,
      origin: 'chat',
    });
    switch (outcome.status) {
      case 'deferred':
        step ??= outcome.callId;
        await onHeld({ callId: outcome.callId, use, afterId, step });
        results.push({ result: resultOf(use, outcome.note), done: undefined, held: true });
        break;
      case 'done':
        results.push({ result: resultOf(use, outcome.text), done: outcome.text, held: false });
        break;
      case 'failed':
        results.push({ result: errorOf(use, outcome.error.message), done: undefined, held: false });
        break;
      default:
        results.push({ result: errorOf(use, outcome.reason), done: undefined, held: false });
    }
  }
  return results;
}

function readCompletion({ content }: LlmCompletion) {
  const text = content.map((block) => (block.type === 'text' ? block.text : '')).join('');
  return { text: text.trim(), uses: content.filter((block) => block.type === 'tool_use') };
}

/** When the model says nothing about what it has done, the tools speak for themselves. */
function spoken(results: readonly Invoked[]): string | undefined {
  const texts = results.map(({ done }) => done).filter((text) => text !== undefined && text.trim() !== '');
  return texts.length === 0 ? undefined : texts.join('\n');
}

function resultOf(use: ToolUseContent, content: string): ToolResultContent {
  return { type: 'tool_result', toolUseId: use.id, content };
}

function errorOf(use: ToolUseContent, reason: string): ToolResultContent {
  return { ...resultOf(use, reason), isError: true };
}
