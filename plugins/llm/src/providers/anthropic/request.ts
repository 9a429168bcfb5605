import type Anthropic from '@anthropic-ai/sdk';
import type { CacheControl, ImageContent, LlmRequest, ModelTool, ModelTraits } from '@cinnabar/sdk';
import { prefillStops, READ_ON, toScript } from '../../prefill/script.js';
import { toTranscript } from '../../transcript/transcript.js';
import {
  type CallResult,
  COMMON_MEDIA_TYPES,
  type ImageRule,
  imageRule,
  type Part,
  type Turn,
} from '../../transcript/turns.js';
import { isClosed, outputSchema, withoutDialect } from '../json.js';
import type { ProviderCall } from '../provider.js';

/** Sampling parameters of older models, which the SDK's types no longer contain. */
interface Sampling {
  readonly temperature?: number;
  readonly top_p?: number;
}
type MessagesParams = Anthropic.MessageCreateParamsNonStreaming & Sampling;

const IMAGE_LIMITS = { mediaTypes: COMMON_MEDIA_TYPES, protocols: ['https:'], maxBytes: 5 * 1024 * 1024 };
/** The API requires a limit. Reasoning tokens count, so this is twice the length of a long answer. */
const DEFAULT_MAX_TOKENS = 8192;

/** The parts of a request that differ between chat and prefill. */
interface Conversation {
  readonly system: string;
  readonly messages: readonly MarkedMessage[];
  readonly tools: readonly Anthropic.Tool[];
  readonly options: Pick<MessagesParams, 'tool_choice' | 'output_config'>;
  readonly stops: readonly string[];
}

/** The body of `POST /v1/messages`, and the form of the structured output in the answer. */
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
    ...toolOptions((request.tools ?? []).map(toTool), turns, form, forceTool),
    stops: (request.stopSequences ?? []).filter((stop) => stop.trim() !== ''),
  };
}

function toTool({ name, description, inputSchema }: ModelTool): Anthropic.Tool {
  return { name, description, input_schema: { ...withoutDialect(inputSchema), type: 'object' } };
}

/** The definitions of the tools are sent even when none may be called, since calls in the history need them. */
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

/** The conversation as a text that the model continues, after the list of tools. */
function toPrefill({ request, assistantImages }: ProviderCall, images: ImageRule): Conversation {
  const { system, tools, messages } = toScript(request, images);
  const user = (text: string, cache?: CacheControl): MarkedMessage => ({
    role: 'user',
    blocks: [{ block: { type: 'text', text }, cache }],
  });
  return {
    system,
    messages: [
      user(READ_ON),
      ...(tools === undefined ? [] : [user(tools, request.cache?.tools)]),
      ...messages.flatMap((parts) => (assistantImages ? [spoken(parts)] : apart(parts))),
    ],
    tools: [],
    options: {},
    stops: prefillStops(request, Number.POSITIVE_INFINITY),
  };
}

function spoken(parts: readonly Part[]): MarkedMessage {
  return { role: 'assistant', blocks: parts.map((part) => ({ block: toBlock(part), cache: part.cache })) };
}

/** Separates images into user messages: the API accepts them nowhere else. */
function apart(parts: readonly Part[]): readonly MarkedMessage[] {
  const words = parts.filter((part) => part.type === 'text');
  const shown = parts.filter((part) => part.type === 'image');
  return [
    ...(words.length === 0 ? [] : [spoken(words)]),
    ...(shown.length === 0 ? [] : [{ ...spoken(shown), role: 'user' as const }]),
  ];
}

/** A content block, and the cache mark at its end. The API allows a mark on all of these. */
interface MarkedBlock {
  readonly block:
    | Anthropic.TextBlockParam
    | Anthropic.ImageBlockParam
    | Anthropic.ToolUseBlockParam
    | Anthropic.ToolResultBlockParam;
  readonly cache: CacheControl | undefined;
}

interface MarkedMessage {
  readonly role: 'user' | 'assistant';
  readonly blocks: MarkedBlock[];
}

/** Tool results and the following messages of people become one user message; every other turn is a message. */
function toMessages(turns: readonly Turn[]): readonly MarkedMessage[] {
  const messages: MarkedMessage[] = [];
  for (const turn of turns) {
    const role = turn.role === 'assistant' ? 'assistant' : 'user';
    const last = messages.at(-1);
    if (last?.role === role) last.blocks.push(...toBlocks(turn));
    else messages.push({ role, blocks: [...toBlocks(turn)] });
  }
  return messages;
}

/** Sets the breakpoints, one for each block. A single text is written as a plain string, which is equivalent. */
function withBreakpoints(
  messages: readonly MarkedMessage[],
  breakpoints: readonly (Breakpoint | undefined)[],
): Anthropic.MessageParam[] {
  let place = 0;
  return messages.map(({ role, blocks }) => {
    const content = blocks.map(({ block }) => {
      const breakpoint = breakpoints[place++];
      return breakpoint === undefined ? block : { ...block, cache_control: breakpoint };
    });
    return { role, content: plain(content) };
  });
}

/** A part as a block. */
function toBlock(part: Part): Anthropic.TextBlockParam | Anthropic.ImageBlockParam {
  return part.type === 'text' ? { type: 'text', text: part.text } : { type: 'image', source: toSource(part.source) };
}

function toBlocks(turn: Turn): readonly MarkedBlock[] {
  if (turn.role === 'user') return turn.parts.map((part) => ({ block: toBlock(part), cache: part.cache }));
  if (turn.role === 'results')
    return turn.results.map((result, index) => markIf(toResult(result), turn.results.length - 1 === index, turn.cache));
  return [
    ...turn.texts.map(({ text, cache }) => ({ block: { type: 'text' as const, text }, cache })),
    ...turn.calls.map(({ id, name, input }, index) =>
      markIf({ type: 'tool_use', id, name, input: { ...input } }, turn.calls.length - 1 === index, turn.cache),
    ),
  ];
}

function markIf(block: MarkedBlock['block'], isLast: boolean, cache: CacheControl | undefined): MarkedBlock {
  return { block, cache: isLast ? cache : undefined };
}

function toResult({ id, parts, isError }: CallResult): Anthropic.ToolResultBlockParam {
  const content = plain(parts.map(toBlock));
  return { type: 'tool_result', tool_use_id: id, content, ...(isError ? { is_error: true } : {}) };
}

function plain<B extends MarkedBlock['block']>(blocks: B[]): string | B[] {
  const [only, ...more] = blocks;
  const bare = only?.type === 'text' && more.length === 0 && only.cache_control === undefined;
  return bare ? only.text : blocks;
}

function toSource({ type, data, mediaType }: ImageContent['source']): Anthropic.ImageBlockParam['source'] {
  if (type === 'url') return { type: 'url', url: data };
  return { type: 'base64', data, media_type: toMediaType(mediaType.toLowerCase()) };
}

// `imageRule` has excluded all other types.
function toMediaType(mediaType: string): Anthropic.Base64ImageSource['media_type'] {
  return mediaType === 'image/png' || mediaType === 'image/gif' || mediaType === 'image/webp'
    ? mediaType
    : 'image/jpeg';
}

type Breakpoint = Anthropic.CacheControlEphemeral;

/** The marks of a request in the order in which the provider reads a prompt. */
interface Marks {
  readonly tools: CacheControl | undefined;
  readonly system: CacheControl | undefined;
  readonly blocks: readonly (CacheControl | undefined)[];
}

interface Breakpoints {
  readonly tools: Breakpoint | undefined;
  readonly system: Breakpoint | undefined;
  readonly blocks: readonly (Breakpoint | undefined)[];
}

/**
 * The breakpoints that a model accepts. When there are too many, the one after the tools is dropped first, since the prefix of the system prompt includes the
 * tools, then the earliest. The API refuses an entry of an hour after one of five minutes: such an entry is kept for five minutes.
 */
function placeBreakpoints({ tools, system, blocks }: Marks, rules: ModelTraits['cache']): Breakpoints {
  const kept = new Set(keptPlaces([tools, system, ...blocks], rules));
  let shortOnly = !rules.ttls.includes('1h');
  const breakpoint = (mark: CacheControl | undefined, place: number): Breakpoint | undefined => {
    if (mark === undefined || !kept.has(place)) return undefined;
    if (mark.ttl !== '1h') shortOnly = true;
    return shortOnly ? { type: 'ephemeral' } : { type: 'ephemeral', ttl: '1h' };
  };
  return {
    tools: breakpoint(tools, 0),
    system: breakpoint(system, 1),
    blocks: blocks.map((mark, index) => breakpoint(mark, index + 2)),
  };
}

function keptPlaces(marks: readonly (CacheControl | undefined)[], rules: ModelTraits['cache']): readonly number[] {
  if (rules.kind !== 'explicit' || rules.breakpoints === 0) return [];
  const places = marks.flatMap((mark, place) => (mark === undefined ? [] : [place]));
  const surplus = places.length - rules.breakpoints;
  if (surplus <= 0) return places;
  const prompt = places.filter((place) => place < 2);
  const dispensable =
    prompt.length === 2 ? [0, ...places.filter((place) => place >= 2)] : places.filter((place) => place >= 2);
  const dropped = new Set([...dispensable, ...prompt].slice(0, surplus));
  return places.filter((place) => !dropped.has(place));
}

/** The form of requested structured output: the API's own format when it supports the schema, otherwise a tool that must be called. */
export type OutputForm =
  | { readonly kind: 'prose' }
  | { readonly kind: 'schema'; readonly format: Anthropic.JSONOutputFormat }
  | { readonly kind: 'tool'; readonly tool: Anthropic.Tool };

function outputForm(output: LlmRequest['output']): OutputForm {
  if (output === undefined) return { kind: 'prose' };
  const schema = outputSchema(output.schema);
  return isClosed(schema) && !hasUnsupported(schema)
    ? { kind: 'schema', format: { type: 'json_schema', schema: { ...schema } } }
    : {
        kind: 'tool',
        tool: {
          name: output.name,
          description: 'Gives the answer. Always answer by calling this, with no other words.',
          input_schema: { ...schema, type: 'object' },
        },
      };
}

const UNSUPPORTED = new Set([
  'minimum',
  'maximum',
  'exclusiveMinimum',
  'exclusiveMaximum',
  'multipleOf',
  'minLength',
  'maxLength',
  'pattern',
  'minItems',
  'maxItems',
  'oneOf',
]);

/** Whether a schema contains keywords that the API's format refuses. A property with such a name also counts; then the tool is used, which works as well. */
function hasUnsupported(value: unknown): boolean {
  if (Array.isArray(value)) return value.some(hasUnsupported);
  if (typeof value !== 'object' || value === null) return false;
  return Object.entries(value).some(([key, child]) => UNSUPPORTED.has(key) || hasUnsupported(child));
}
