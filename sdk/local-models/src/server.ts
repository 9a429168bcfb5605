import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { json } from 'node:stream/consumers';
import { answer, answerFailure, type Exchange } from './answer.js';
import { createEmbedding } from './embed-exchange.js';
import type { EmbeddingOptions, EmbeddingWire } from './embedding.js';
import { createHeld } from './held.js';
import { createStepQueue, type ScriptOptions } from './prompt.js';
import { createRecording, keyOf, type RecordedRequest, withoutKeys } from './recording.js';
import { type FailStep, fail, type ModelStep } from './steps.js';
import type { Rejection, Wire } from './wire.js';

export interface StandInOptions extends ScriptOptions, EmbeddingOptions {
  /** When given, requests with another key, or none, are answered with 401. */
  readonly key?: string;
  /** Whether the model refuses `temperature` and `top_p`, as reasoning models do. */
  readonly refusesSampling?: boolean;
  /** Whether the model refuses to be made to call a certain tool, as some that always reason do (Anthropic, Bedrock). */
  readonly refusesForcedTools?: boolean;
  /** Whether the model goes on with an answer that is begun for it (Anthropic, Bedrock). Current models refuse that. */
  readonly prefill?: boolean;
  /** How many of the latest requests are kept; all unless told. */
  readonly keepRequests?: number;
}

/** A provider's API on loopback. */
export interface StandIn extends AsyncDisposable {
  /** What a client takes as its base URL. */
  readonly baseUrl: string;
  readonly requests: readonly RecordedRequest[];
  /** Resolves with the `count`-th request (from 1) as soon as it is there. */
  arrived(count: number): Promise<RecordedRequest>;
  /** Adds answers to the queue. */
  push(...steps: readonly ModelStep[]): void;
  /** Resolves as soon as an answer hangs. */
  hanging(): Promise<void>;
  /** Lets everything that hangs go on. */
  release(): void;
}

/** What an API has beside models that talk. */
interface MoreEndpoints {
  /** Answers to GET, by path. */
  readonly documents?: Readonly<Record<string, unknown>>;
  readonly embeddings?: EmbeddingWire;
}

/** Serves the wires' endpoints on a free port of the loopback interface. */
export async function startStandIn(
  options: StandInOptions,
  wires: readonly Wire[],
  basePath: string,
  { documents = {}, embeddings }: MoreEndpoints = {},
): Promise<StandIn> {
  const recording = createRecording(options.keepRequests);
  const queue = createStepQueue(options);
  const held = createHeld();
  const failure = (step: FailStep) => wires[0]?.failure(step);
  const embed = createEmbedding(embeddings, { options, recording, held, failure });

  const handle = async (request: IncomingMessage, response: ServerResponse) => {
    const path = new URL(request.url ?? '/', 'http://localhost').pathname;
    if (request.method === 'GET' && path in documents) return sendJson(response, 200, documents[path]);
    const body: unknown = request.method === 'POST' ? await json(request).catch(() => undefined) : undefined;
    if (await embed({ path, request, response, body })) return;
    const found = wires
      .map((wire) => ({ wire, match: wire.match(path, body) }))
      .find(({ match }) => match !== undefined);
    if (found?.match === undefined || request.method !== 'POST') {
      return sendJson(response, 404, { error: { type: 'not_found_error', message: `no ${request.method} ${path}` } });
    }
    const { wire, match } = found;
    const key = keyOf(request.headers);
    const prompt = { ...wire.view(body), model: match.model };
    const end = recording.add({ path, headers: withoutKeys(request.headers), hasKey: key !== undefined, body, prompt });
    response.on('close', () => end(response.writableFinished ? 'answered' : 'aborted'));

    const exchange: Exchange = {
      wire,
      response,
      ...match,
      serial: recording.count,
      released: () =>
        held.hold((gone) => {
          response.once('close', gone);
          return () => response.off('close', gone);
        }),
      cut() {
        end('cut');
        response.destroy();
      },
    };
    if (options.key !== undefined && key !== options.key) {
      return answerFailure(exchange, fail(401, { message: `invalid key: ${key ?? 'none'}` }));
    }
    const rejection = rejectionOf(wire, body, options);
    if (rejection !== undefined) return answerFailure(exchange, { ...rejection, kind: 'fail' });
    const step = await queue.next(prompt);
    await answer(exchange, step ?? fail(400, { message: 'The stand-in has no step left.' }));
  };

  const server = createServer((request, response) => {
    handle(request, response).catch((error: unknown) => {
      if (response.headersSent) response.destroy();
      else sendJson(response, 400, { error: { type: 'script_error', message: `The script threw: ${String(error)}` } });
    });
  });
  const port = await new Promise<number>((resolve) => {
    server.listen(0, '127.0.0.1', () => {
      const address = server.address();
      resolve(typeof address === 'object' && address !== null ? address.port : 0);
    });
  });
  return {
    baseUrl: `http://127.0.0.1:${port}${basePath}`,
    requests: recording.requests,
    arrived: recording.arrived,
    push: queue.push,
    hanging: held.hanging,
    release: held.release,
    async [Symbol.asyncDispose]() {
      await new Promise<void>((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      });
    },
  };
}

function rejectionOf(wire: Wire, body: unknown, options: StandInOptions): Rejection | undefined {
  const sampling = options.refusesSampling === true ? rejectSampling(body) : undefined;
  const rules = { prefill: options.prefill === true, forcedTools: options.refusesForcedTools !== true };
  return sampling ?? wire.reject(body, rules);
}

function rejectSampling(body: unknown): Rejection | undefined {
  if (typeof body !== 'object' || body === null) return undefined;
  const options =
    'generationConfig' in body && typeof body.generationConfig === 'object' ? body.generationConfig : body;
  const param = ['temperature', 'top_p', 'topP'].find((name) => options !== null && name in options);
  if (param === undefined) return undefined;
  return { status: 400, message: `Unsupported parameter: '${param}' is not supported with this model.`, param };
}

function sendJson(response: ServerResponse, status: number, body: unknown): void {
  response.writeHead(status, { 'content-type': 'application/json' });
  response.end(JSON.stringify(body));
}
