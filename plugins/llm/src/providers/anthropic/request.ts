import type Anthropic from '@anthropic-ai/sdk';
import type { ModelTool } from '@cinnabar/sdk';
import { toTranscript } from '../../transcript/transcript.js';
import type { Turn } from '../../transcript/turns.js';
import { COMMON_MEDIA_TYPES, imageRule } from '../images.js';
import type { ProviderCall } from '../provider.js';
import { type BlockMessage, limitBreakpoints, toBlocks } from './blocks.js';
import { type OutputForm, outputForm } from './output-form.js';

type Params = Anthropic.MessageCreateParamsNonStreaming;
/** Older models take these; the SDK no longer names them. */
interface Sampling {
  readonly temperature?: number;
  readonly top_p?: number;
}

const IMAGE_LIMITS = { mediaTypes: COMMON_MEDIA_TYPES, protocols: ['https:'], maxBytes: 5 * 1024 * 1024 };
/** The API demands a limit. Reasoning counts too, so this is twice a long answer. */
const DEFAULT_MAX_TOKENS = 8192;

/** The request in the form of `POST /v1/messages`, and in which form structured output will come. */
export function toMessagesParams(call: ProviderCall): {
  readonly params: Params & Sampling;
  readonly form: OutputForm;
} {
  const { request, model, maxTokens, temperature, topP } = call;
  const { system, turns } = toTranscript(request, imageRule(IMAGE_LIMITS, call.images));
  const form = outputForm(request.output);
  const tools = form.kind === 'tool' ? [form.tool] : (request.tools ?? []).map(toTool);
  const stops = (request.stopSequences ?? []).filter((stop) => stop.trim() !== '');
  const params = {
    model,
    max_tokens: maxTokens ?? DEFAULT_MAX_TOKENS,
    system,
    messages: limitBreakpoints(toMessages(turns)),
    ...toolOptions(tools, turns, form),
    ...(form.kind === 'schema' ? { output_config: { format: form.format } } : {}),
    ...(stops.length === 0 ? {} : { stop_sequences: stops }),
    ...(temperature === undefined ? {} : { temperature: Math.min(1, temperature) }),
    ...(topP === undefined ? {} : { top_p: topP }),
  };
  return { params, form };
}

function toTool({ name, description, inputSchema }: ModelTool): Anthropic.Tool {
  const { $schema: _dialect, ...schema } = inputSchema;
  return { name, description, input_schema: { ...schema, type: 'object' } };
}

/** Calls in the history need their tools to be defined, also when none may be called now. */
function toolOptions(tools: readonly Anthropic.Tool[], turns: readonly Turn[], form: OutputForm) {
  if (form.kind === 'tool') {
    return { tools: [...tools], tool_choice: { type: 'tool' as const, name: form.tool.name } };
  }
  if (tools.length > 0) return { tools: [...tools] };
  const called = new Set(
    turns.flatMap((turn) => (turn.role === 'assistant' ? turn.calls.map(({ name }) => name) : [])),
  );
  if (called.size === 0) return {};
  const past = [...called].map((name): Anthropic.Tool => ({ name, input_schema: { type: 'object' } }));
  return { tools: past, tool_choice: { type: 'none' as const } };
}

/** Results and what people say after them are one user message; otherwise each turn is a message. */
function toMessages(turns: readonly Turn[]): readonly BlockMessage[] {
  const messages: BlockMessage[] = [];
  for (const turn of turns) {
    const role = turn.role === 'assistant' ? 'assistant' : 'user';
    const blocks = toBlocks(turn);
    const last = messages.at(-1);
    if (last?.role === role) last.content.push(...blocks);
    else messages.push({ role, content: [...blocks] });
  }
  return messages;
}
