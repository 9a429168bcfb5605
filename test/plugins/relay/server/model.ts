import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import { text } from 'node:stream/consumers';
import type { AgentScript } from '@cinnabar/local-letta';
import { z } from '@cinnabar/sdk';

/** A request to an agent's model. */
export interface Question {
  /** The name of the agent's model. */
  readonly model: string;
  /** The latest message of a user. */
  readonly prompt: string;
  /** The results of its latest tool calls; empty in the first request about a prompt. */
  readonly results: readonly string[];
}

/** Its answer: text, or tool calls. */
export interface Step {
  readonly say?: string;
  readonly calls?: readonly { readonly name: string; readonly args: Readonly<Record<string, unknown>> }[];
  /** The model answers when this resolves. */
  readonly after?: Promise<unknown>;
  /** The provider fails with this status. */
  readonly refuse?: number;
}

export type Model = (question: Question) => Step;

/** The model as a script of the stand-in: called again after each step until it answers with text only. */
export function asScript(model: Model, name: string): AgentScript {
  return async (turn) => {
    for (let results: readonly string[] = []; ; ) {
      await turn.wait(0);
      const { say, calls = [], after, refuse } = model({ model: name, prompt: turn.prompt, results });
      await after;
      if (refuse === 401) turn.fail('llm_authentication', 'Authentication failed with the LLM model provider.');
      if (calls.length === 0) return void turn.say(say ?? '');
      const outcomes = await turn.callTools(calls.map(({ name: tool, args }) => ({ name: tool, input: args })));
      results = outcomes.map((outcome) => outcome.text);
    }
  };
}

const body = z.object({
  model: z.string(),
  stream: z.boolean().optional(),
  messages: z.array(z.object({ role: z.string(), content: z.unknown() })),
});

/** The model as a provider with OpenAI's API, for a real server. */
export async function startProvider(model: Model): Promise<AsyncDisposable & { readonly baseUrl: string }> {
  let calls = 0;
  const server = createServer(async (request, response) => {
    const raw = await text(request);
    if (request.url?.includes('/embeddings') === true) return embed(raw, response);
    if (request.url?.includes('/chat/completions') !== true) return send(response, 200, { object: 'list', data: [] });
    const { model: name, stream = false, messages } = body.parse(JSON.parse(raw));
    const last = messages.findLastIndex(({ role }) => role !== 'tool');
    const results = messages.slice(last + 1).map(({ content }) => outcomeIn(textOf(content)));
    const prompt = textOf(messages.findLast(({ role }) => role === 'user')?.content);
    const step = model({ model: name, prompt, results });
    await step.after;
    if (step.refuse !== undefined) return send(response, step.refuse, { error: { message: 'no', type: 'error' } });
    calls += 1;
    answer(response, step, { stream, name, id: `${Date.now().toString(36)}${calls}` });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const at = server.address();
  return {
    baseUrl: `http://127.0.0.1:${typeof at === 'object' ? at?.port : 0}/v1`,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}

function answer(
  response: ServerResponse,
  { say, calls = [] }: Step,
  { stream, name, id }: { readonly stream: boolean; readonly name: string; readonly id: string },
): void {
  const tool_calls = calls.map((call, index) => ({
    index,
    id: `call_${id}${index}`,
    type: 'function',
    function: { name: call.name, arguments: JSON.stringify(call.args) },
  }));
  const message = { role: 'assistant', content: say ?? null, ...(calls.length === 0 ? {} : { tool_calls }) };
  const finish_reason = calls.length === 0 ? 'stop' : 'tool_calls';
  const usage = { prompt_tokens: 100, completion_tokens: 20, total_tokens: 120 };
  const base = { id: `chatcmpl-${id}`, created: 1, model: name };
  if (!stream) {
    const choices = [{ index: 0, finish_reason, message }];
    send(response, 200, { ...base, object: 'chat.completion', usage, choices });
    return;
  }
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  const chunk = (choices: readonly unknown[], more: object = {}) =>
    response.write(`data: ${JSON.stringify({ ...base, object: 'chat.completion.chunk', choices, ...more })}\n\n`);
  chunk([{ index: 0, delta: message, finish_reason: null }]);
  chunk([{ index: 0, delta: {}, finish_reason }]);
  chunk([], { usage });
  response.end('data: [DONE]\n\n');
}

function embed(raw: string, response: ServerResponse): void {
  const input: unknown = z.object({ input: z.unknown() }).parse(JSON.parse(raw)).input;
  const count = Array.isArray(input) ? input.length : 1;
  const embedding = Array.from({ length: 1536 }, (_, at) => (at % 7) / 7);
  const data = Array.from({ length: count }, (_, index) => ({ object: 'embedding', index, embedding }));
  send(response, 200, { object: 'list', model: 'e', usage: { prompt_tokens: 1, total_tokens: 1 }, data });
}

function send(response: ServerResponse, status: number, json: unknown): void {
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(json));
}

/** A real server wraps the result of a tool call for the model. */
function outcomeIn(wrapped: string): string {
  try {
    return z.object({ message: z.string() }).parse(JSON.parse(wrapped)).message;
  } catch {
    return wrapped;
  }
}

function textOf(content: unknown): string {
  if (typeof content === 'string') return content;
  return z
    .array(z.looseObject({ text: z.string().optional() }))
    .catch([])
    .parse(content)
    .map((part) => part.text ?? '')
    .join('\n');
}
