import { toOpenAiResponsesTool } from '@cinnabar/sdk';
import type OpenAI from 'openai';
import { toTranscript } from '../../transcript/transcript.js';
import { type CallResult, joinTexts, type Part, type Turn, wordsOf } from '../../transcript/turns.js';
import { COMMON_MEDIA_TYPES, imageRule } from '../images.js';
import { isClosed, outputSchema } from '../output-schema.js';
import type { ProviderCall } from '../provider.js';

type Params = OpenAI.Responses.ResponseCreateParamsNonStreaming;
type Item = OpenAI.Responses.ResponseInputItem;

export const IMAGE_LIMITS = {
  mediaTypes: COMMON_MEDIA_TYPES,
  protocols: ['https:', 'http:'],
  maxBytes: 20 * 1024 * 1024,
};
const LEAST_OUTPUT_TOKENS = 16;

/** The request in the form of `POST /responses`. Nothing is stored at the provider: each request carries its whole conversation. */
export function toResponsesParams(call: ProviderCall): Params {
  const { request, model, maxTokens, temperature, topP } = call;
  const { system, turns } = toTranscript(request, imageRule(IMAGE_LIMITS, call.images));
  const tools = request.tools ?? [];
  return {
    model,
    instructions: system,
    input: turns.flatMap(toItems),
    store: false,
    ...(tools.length === 0
      ? {}
      : {
          tools: tools.map(toOpenAiResponsesTool),
        }),
    ...(request.output === undefined ? {} : { text: { format: toFormat(request.output) } }),
    ...(maxTokens === undefined ? {} : { max_output_tokens: Math.max(LEAST_OUTPUT_TOKENS, maxTokens) }),
    ...(temperature === undefined ? {} : { temperature }),
    ...(topP === undefined ? {} : { top_p: topP }),
  };
}

function toFormat({ name, schema }: NonNullable<ProviderCall['request']['output']>) {
  const json = outputSchema(schema);
  return { type: 'json_schema' as const, name, schema: { ...json }, strict: isClosed(json) };
}

function toItems(turn: Turn): readonly Item[] {
  if (turn.role === 'user') return [{ role: 'user', content: joinTexts(turn.parts).map(toContent) }];
  if (turn.role === 'results') return turn.results.map(toOutput);
  const calls = turn.calls.map(
    ({ id, name, input }): Item => ({ type: 'function_call', call_id: id, name, arguments: JSON.stringify(input) }),
  );
  const words = wordsOf(turn);
  return words === '' ? calls : [{ role: 'assistant', content: words }, ...calls];
}

function toOutput({ id, parts }: CallResult): Item {
  const [only, ...more] = parts;
  const output = only?.type === 'text' && more.length === 0 ? only.text : parts.map(toContent);
  return { type: 'function_call_output', call_id: id, output };
}

function toContent(part: Part): OpenAI.Responses.ResponseInputText | OpenAI.Responses.ResponseInputImage {
  return part.type === 'text'
    ? { type: 'input_text', text: part.text }
    : { type: 'input_image', image_url: imageUrl(part.source), detail: 'auto' };
}

export function imageUrl({ type, data, mediaType }: Extract<Part, { type: 'image' }>['source']): string {
  return type === 'url' ? data : `data:${mediaType.toLowerCase()};base64,${data}`;
}
