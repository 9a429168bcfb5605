import { type ModelTool, toOpenAiChatTool } from '@cinnabar/sdk';
import type OpenAI from 'openai';
import { READ_ON } from '../../prefill/notes.js';
import { toScript } from '../../prefill/script.js';
import { prefillStops } from '../../prefill/stops.js';
import { toTranscript } from '../../transcript/transcript.js';
import { joinTexts, type Part, type ResultsTurn, type Turn, wordsOf } from '../../transcript/turns.js';
import { imageRule } from '../images.js';
import { isClosed, outputSchema } from '../output-schema.js';
import type { ProviderCall } from '../provider.js';
import { IMAGE_LIMITS, imageUrl } from './responses-request.js';

type Params = OpenAI.Chat.ChatCompletionCreateParamsNonStreaming;
type Message = OpenAI.Chat.ChatCompletionMessageParam;
type UserPart = OpenAI.Chat.ChatCompletionContentPartText | OpenAI.Chat.ChatCompletionContentPartImage;

const MAX_STOPS = 4;

/**
 * The request in the form of `POST /chat/completions`.
 * @param genuine whether it goes to OpenAI itself, whose newer models know the token limit by another name than everybody else
 */
export function toChatParams(call: ProviderCall, genuine: boolean): Params {
  const { request, model, maxTokens, temperature, topP } = call;
  const { messages, tools, stops } = call.mode === 'prefill' ? toPrefill(call) : toChat(call);
  return {
    model,
    messages: [...messages],
    ...(tools.length === 0
      ? {}
      : {
          tools: tools.map(toOpenAiChatTool),
        }),
    ...(request.output === undefined ? {} : { response_format: toFormat(request.output) }),
    ...(stops.length === 0 ? {} : { stop: [...stops] }),
    ...(maxTokens === undefined ? {} : { [genuine ? 'max_completion_tokens' : 'max_tokens']: maxTokens }),
    ...(temperature === undefined ? {} : { temperature }),
    ...(topP === undefined ? {} : { top_p: topP }),
  };
}

interface Conversation {
  readonly messages: readonly Message[];
  readonly tools: readonly ModelTool[];
  readonly stops: readonly string[];
}

function toChat({ request, images }: ProviderCall): Conversation {
  const { system, turns } = toTranscript(request, imageRule(IMAGE_LIMITS, images));
  return {
    messages: [{ role: 'system', content: system }, ...turns.flatMap(toMessages)],
    tools: request.tools ?? [],
    stops: (request.stopSequences ?? []).filter((text) => text !== '').slice(0, MAX_STOPS),
  };
}

/** The conversation as the beginning of the answer, for servers that go on with it. Images have no place there. */
function toPrefill({ request }: ProviderCall): Conversation {
  const { system, tools, messages } = toScript(request, () => 'this form of conversation has no place for it');
  const user = (content: string): Message => ({ role: 'user', content });
  return {
    messages: [
      { role: 'system', content: system },
      user(READ_ON),
      ...(tools === undefined ? [] : [user(tools)]),
      ...messages.map((parts): Message => ({ role: 'assistant', content: textOf(parts) })),
    ],
    tools: [],
    stops: prefillStops(request, MAX_STOPS),
  };
}

function toFormat({ name, schema }: NonNullable<ProviderCall['request']['output']>) {
  const json = outputSchema(schema);
  return { type: 'json_schema' as const, json_schema: { name, schema: { ...json }, strict: isClosed(json) } };
}

function toMessages(turn: Turn): readonly Message[] {
  if (turn.role === 'user') return [{ role: 'user', content: toContent(turn.parts) }];
  if (turn.role === 'results') return toToolMessages(turn);
  const calls = turn.calls.map(({ id, name, input }) => ({
    id,
    type: 'function' as const,
    function: { name, arguments: JSON.stringify(input) },
  }));
  const content = wordsOf(turn) || null;
  return [{ role: 'assistant', content, ...(calls.length === 0 ? {} : { tool_calls: calls }) }];
}

/** A tool message holds text only: images follow in a user message. */
function toToolMessages({ results }: ResultsTurn): readonly Message[] {
  const images = results.flatMap(({ parts }) => parts.filter((part) => part.type === 'image'));
  const messages = results.map(({ id, parts }): Message => {
    const text = parts.map((part) => (part.type === 'text' ? part.text : '(the image below)')).join('\n');
    return { role: 'tool', tool_call_id: id, content: text };
  });
  if (images.length === 0) return messages;
  const note: UserPart = { type: 'text', text: '(Images from the tool results above.)' };
  return [...messages, { role: 'user', content: [note, ...images.map(toPart)] }];
}

// Plain text stays a plain string: some compatible servers take nothing else.
function toContent(parts: readonly Part[]): string | UserPart[] {
  return parts.every((part) => part.type === 'text') ? textOf(parts) : joinTexts(parts).map(toPart);
}

function textOf(parts: readonly Part[]): string {
  return parts.map((part) => (part.type === 'text' ? part.text : '')).join('');
}

function toPart(part: Part): UserPart {
  return part.type === 'text'
    ? { type: 'text', text: part.text }
    : { type: 'image_url', image_url: { url: imageUrl(part.source) } };
}
