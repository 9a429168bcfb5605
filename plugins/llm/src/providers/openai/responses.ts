import type OpenAI from 'openai';
import { bounded } from '../../streaming/bounded.js';
import type { JsonFields } from '../../vendors/source.js';
import { CONNECTION_LOST, type HttpProblem, unreadable } from '../http-failure.js';
import type { Attempt, Failure, ProviderCall } from '../provider.js';
import { toReply } from './responses-reply.js';
import { toResponsesParams } from './responses-request.js';

type Response = OpenAI.Responses.Response;
type OutputItem = OpenAI.Responses.ResponseOutputItem;
type Explain = (problem: HttpProblem) => Failure;

/** One attempt through the Responses API. */
export async function sendResponses(
  client: OpenAI,
  call: ProviderCall,
  body: JsonFields | undefined,
  explain: Explain,
): Promise<Attempt> {
  const params = { ...toResponsesParams(call), ...body };
  const stops = call.request.stopSequences ?? [];
  if (!call.stream) {
    const response = await client.responses.create(params, { signal: call.signal });
    return finish(response, response.output, stops, explain);
  }
  const stream = await client.responses.create({ ...params, stream: true }, { signal: call.signal });
  const items: OutputItem[] = [];
  const read = bounded(stream, call.maxBytes, (event) =>
    'delta' in event && typeof event.delta === 'string' ? [event.delta] : [],
  );
  let text = '';
  for await (const event of read) {
    if (event.type === 'response.output_text.delta') {
      text += event.delta;
      call.onText?.(event.delta);
    }
    if (event.type === 'response.output_item.done') items.push(event.item);
    else if (event.type === 'error') return failed(event.code, event.message, explain);
    else if (
      event.type === 'response.completed' ||
      event.type === 'response.incomplete' ||
      event.type === 'response.failed'
    ) {
      // Some compatible servers leave the output out of the last event.
      const { response } = event;
      return finish(response, response.output?.length > 0 ? response.output : items, stops, explain);
    }
  }
  const { cutAfterBytes } = read;
  if (cutAfterBytes !== undefined) {
    const content = text === '' ? [] : [{ type: 'text' as const, text }];
    // What it took is told at the end of an answer.
    const usage = { inputTokens: 0, outputTokens: 0 };
    return { ok: true, reply: { content, stopReason: 'max_tokens', usage, cutAfterBytes, model: call.model } };
  }
  // The SDK ends quietly when the connection does; an answer has an end of its own.
  return { ok: false, failure: CONNECTION_LOST };
}

/** The body that `sendResponses` sends. */
export function renderResponses(call: ProviderCall, body?: JsonFields): unknown {
  const params = { ...toResponsesParams(call), ...body };
  return call.stream ? { ...params, stream: true } : params;
}

function finish(response: Response, items: readonly OutputItem[], stops: readonly string[], explain: Explain): Attempt {
  if (response.error) return failed(response.error.code, response.error.message, explain);
  if (!Array.isArray(items)) return { ok: false, failure: unreadable('it is not a response of the Responses API') };
  return { ok: true, reply: toReply(response, items, stops) };
}

function failed(code: string | null, message: string, explain: Explain): Attempt {
  const kinds = code === null ? [] : [code];
  return { ok: false, failure: explain({ status: undefined, kinds, param: undefined, message, headers: undefined }) };
}
