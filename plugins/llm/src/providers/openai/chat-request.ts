import type OpenAI from 'openai';
import { toTranscript } from '../../transcript/transcript.js';
import type { Part, ResultsTurn, Turn } from '../../transcript/turns.js';
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
  const { system, turns } = toTranscript(request, imageRule(IMAGE_LIMITS, call.images));
  const tools = request.tools ?? [];
  const stop = (request.stopSequences ?? []).filter((text) => text !== '').slice(0, MAX_STOPS);
  return {
    model,
    messages: [{ role: 'system', content: system }, ...turns.flatMap(toMessages)],
    ...(tools.length === 0
      ? {}
      : {
          tools: tools.map(({ name, description, inputSchema }) => ({
            type: 'function' as const,
            function: { name, description, parameters: { ...inputSchema } },
          })),
        }),
    ...(request.output === undefined ? {} : { response_format: toFormat(request.output) }),
    ...(stop.length === 0 ? {} : { stop }),
    ...(maxTokens === undefined ? {} : { [genuine ? 'max_completion_tokens' : 'max_tokens']: maxTokens }),
    ...(temperature === undefined ? {} : { temperature }),
    ...(topP === undefined ? {} : { top_p: topP }),
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
  const content = turn.text === '' ? null : turn.text;
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
  return parts.every((part) => part.type === 'text') ? parts.map((part) => part.text).join('') : parts.map(toPart);
}

function toPart(part: Part): UserPart {
  return part.type === 'text'
    ? { type: 'text', text: part.text }
    : { type: 'image_url', image_url: { url: imageUrl(part.source) } };
}
