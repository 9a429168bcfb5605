import type Anthropic from '@anthropic-ai/sdk';
import { toAnthropicTool } from '@cinnabar/sdk';
import { toTranscript } from '../../transcript/transcript.js';
import type { Turn } from '../../transcript/turns.js';
import { COMMON_MEDIA_TYPES, imageRule } from '../images.js';
import type { ProviderCall } from '../provider.js';
import { type MarkedMessage, toMessages, withBreakpoints } from './blocks.js';
import { type Breakpoint, placeBreakpoints } from './breakpoints.js';
import { type OutputForm, outputForm } from './output-form.js';
import { toPrefill } from './prefill-messages.js';

/** Older models take these; the SDK no longer names them. */
interface Sampling {
  readonly temperature?: number;
  readonly top_p?: number;
}
export type MessagesParams = Anthropic.MessageCreateParamsNonStreaming & Sampling;

const IMAGE_LIMITS = { mediaTypes: COMMON_MEDIA_TYPES, protocols: ['https:'], maxBytes: 5 * 1024 * 1024 };
/** The API demands a limit. Reasoning counts too, so this is twice a long answer. */
const DEFAULT_MAX_TOKENS = 8192;

/** What differs between the modes. */
export interface Conversation {
  readonly system: string;
  readonly messages: readonly MarkedMessage[];
  readonly tools: readonly Anthropic.Tool[];
  readonly options: Pick<MessagesParams, 'tool_choice' | 'output_config'>;
  readonly stops: readonly string[];
}

/** The request in the form of `POST /v1/messages`, and in which form structured output will come. */
export function toMessagesParams(call: ProviderCall): { readonly params: MessagesParams; readonly form: OutputForm } {
  const { request, model, maxTokens, temperature, topP } = call;
  const images = imageRule(IMAGE_LIMITS, call.images);
  const form = outputForm(call.mode === 'prefill' ? undefined : request.output);
  const { system, messages, tools, options, stops } =
    call.mode === 'prefill' ? toPrefill(call, images) : toChat(call, toTranscript(request, images), form);
  const breakpoints = placeBreakpoints(
    {
      tools: tools.length === 0 ? undefined : request.cache?.tools,
      system: request.cache?.system,
      blocks: messages.flatMap(({ blocks }) => blocks.map(({ cache }) => cache)),
    },
    call.cache,
  );
  const params = {
    model,
    max_tokens: maxTokens ?? DEFAULT_MAX_TOKENS,
    system:
      breakpoints.system === undefined
        ? system
        : [{ type: 'text' as const, text: system, cache_control: breakpoints.system }],
    messages: withBreakpoints(messages, breakpoints.blocks),
    ...(tools.length === 0 ? {} : { tools: markLast(tools, breakpoints.tools) }),
    ...options,
    ...(stops.length === 0 ? {} : { stop_sequences: [...stops] }),
    ...(temperature === undefined ? {} : { temperature }),
    ...(topP === undefined ? {} : { top_p: topP }),
  };
  return { params, form };
}

function toChat(
  { request, forceTool }: ProviderCall,
  { system, turns }: ReturnType<typeof toTranscript>,
  form: OutputForm,
): Conversation {
  return {
    system,
    messages: toMessages(turns),
    ...toolOptions((request.tools ?? []).map(toAnthropicTool), turns, form, forceTool),
    stops: (request.stopSequences ?? []).filter((stop) => stop.trim() !== ''),
  };
}

/** Calls in the history need their tools to be defined, also when none may be called now. */
function toolOptions(
  tools: readonly Anthropic.Tool[],
  turns: readonly Turn[],
  form: OutputForm,
  force: boolean,
): Pick<Conversation, 'tools' | 'options'> {
  if (form.kind === 'tool') {
    const choice = force ? { type: 'tool' as const, name: form.tool.name } : { type: 'auto' as const };
    return { tools: [form.tool], options: { tool_choice: choice } };
  }
  const format = form.kind === 'schema' ? { output_config: { format: form.format } } : {};
  if (tools.length > 0) return { tools, options: format };
  const called = new Set(
    turns.flatMap((turn) => (turn.role === 'assistant' ? turn.calls.map(({ name }) => name) : [])),
  );
  if (called.size === 0) return { tools: [], options: format };
  const past = [...called].map((name): Anthropic.Tool => ({ name, input_schema: { type: 'object' } }));
  return { tools: past, options: { ...format, tool_choice: { type: 'none' } } };
}

function markLast(tools: readonly Anthropic.Tool[], breakpoint: Breakpoint | undefined): Anthropic.Tool[] {
  return tools.map((tool, index) =>
    breakpoint !== undefined && index === tools.length - 1 ? { ...tool, cache_control: breakpoint } : tool,
  );
}
