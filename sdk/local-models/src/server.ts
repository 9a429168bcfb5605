import type { IncomingMessage, ServerResponse } from 'node:http';
import { json } from 'node:stream/consumers';
import { listenOnLoopback, sendJson } from '@cinnabar/local-http';
import { type EmbeddingOptions, type EmbeddingWire, wordVector } from './embedding.js';
import { createHeld, type Held } from './held.js';
import { createRecording, keyOf, type RecordedRequest, type Recording, withoutKeys } from './recording.js';
import { createStepQueue, type FailStep, fail, type ModelStep, type ReplyStep, type ScriptOptions } from './steps.js';
import type { Frame, Rejection, Wire } from './wire.js';

export interface StandInOptions extends ScriptOptions, EmbeddingOptions {
  /** When set, requests with another key or none get 401. */
  readonly key?: string;
  /** Whether the model refuses `temperature` and `top_p`, as reasoning models do. */
  readonly refusesSampling?: boolean;
  /** Whether the model refuses `tool_choice` with a certain tool, as some reasoning models do (Anthropic, Bedrock). */
  readonly refusesForcedTools?: boolean;
  /** Whether the model continues an assistant message at the end of the request (Anthropic, Bedrock). Current models refuse it. */
  readonly prefill?: boolean;
  /** Number of requests that are kept; default: all. */
  readonly keepRequests?: number;
}

/** A provider's API on loopback. */
export interface StandIn extends AsyncDisposable {
  /** The base URL for clients. */
  readonly baseUrl: string;
  readonly requests: readonly RecordedRequest[];
  /** Resolves with the `count`-th request (from 1) when it arrives. */
  arrived(count: number): Promise<RecordedRequest>;
  /** Appends steps to the queue. */
  push(...steps: readonly ModelStep[]): void;
  /** Resolves as soon as a response hangs. */
  hanging(): Promise<void>;
  /** Resumes all hanging responses. */
  release(): void;
}

/** The endpoints of an API apart from chat. */
interface MoreEndpoints {
  /** Responses to GET, by path. */
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

  const documentAt = (path: string, isRefused: boolean) => {
    if (isRefused) return { status: 401, body: { error: { type: 'authentication_error', message: 'invalid key' } } };
    return path in documents ? { status: 200, body: documents[path] } : undefined;
  };

  const handle = async (request: IncomingMessage, response: ServerResponse) => {
    const path = new URL(request.url ?? '/', 'http://localhost').pathname;
    const key = keyOf(request.headers);
    const isRefused = options.key !== undefined && key !== options.key;
    const document = request.method === 'GET' ? documentAt(path, isRefused) : undefined;
    if (document !== undefined) return sendJson(response, document.status, document.body);
    const body: unknown = request.method === 'POST' ? await json(request).catch(() => undefined) : undefined;
    if (await embed({ path, request, response, body })) return;
    const found = wires
      .map((wire) => ({ wire, match: wire.match(path, body) }))
      .find(({ match }) => match !== undefined);
    if (found?.match === undefined || request.method !== 'POST') {
      return sendJson(response, 404, { error: { type: 'not_found_error', message: `no ${request.method} ${path}` } });
    }
    const { wire, match } = found;
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
    if (isRefused) {
      return answerFailure(exchange, fail(401, { message: `invalid key: ${key ?? 'none'}` }));
    }
    const rejection = rejectionOf(wire, body, options);
    if (rejection !== undefined) return answerFailure(exchange, { ...rejection, kind: 'fail' });
    const step = await queue.next(prompt);
    await answer(exchange, step ?? fail(400, { message: 'The stand-in has no step left.' }));
  };

  const { url, close } = await listenOnLoopback((request, response) => {
    handle(request, response).catch((error: unknown) => {
      if (response.headersSent) response.destroy();
      else sendJson(response, 400, { error: { type: 'script_error', message: `The script threw: ${String(error)}` } });
    });
  });
  return {
    baseUrl: `${url}${basePath}`,
    requests: recording.requests,
    arrived: recording.arrived,
    push: queue.push,
    hanging: held.hanging,
    release: held.release,
    [Symbol.asyncDispose]: close,
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

const SERVER_SENT_EVENTS = 'text/event-stream; charset=utf-8';

/** A running exchange. */
interface Exchange {
  readonly wire: Wire;
  readonly response: ServerResponse;
  readonly model: string;
  readonly streamed: boolean;
  readonly serial: number;
  /** Resolves with `true` on release, with `false` when the client disconnects. */
  released(): Promise<boolean>;
  /** Cuts the connection without a response. */
  cut(): void;
}

/** Sends a step over HTTP. */
async function answer(exchange: Exchange, step: ModelStep): Promise<void> {
  if (step.kind === 'hang') {
    if (await exchange.released()) await answer(exchange, step.then);
  } else if (step.kind === 'fail') {
    answerFailure(exchange, step);
  } else if (exchange.streamed) {
    await answerStreamed(exchange, step);
  } else {
    await answerWhole(exchange, step);
  }
}

/** Sends an error as the provider does. */
function answerFailure({ wire, response, streamed }: Exchange, step: FailStep): void {
  if (step.midway === true && streamed) {
    response.writeHead(200, { 'content-type': wire.streamType ?? SERVER_SENT_EVENTS });
    response.end(wire.failureFrame(step));
    return;
  }
  const retryAfter = step.retryAfterSeconds === undefined ? {} : { 'retry-after': String(step.retryAfterSeconds) };
  const more = wire.failureHeaders?.(step) ?? {};
  response.writeHead(step.status, { 'content-type': 'application/json', ...retryAfter, ...more });
  response.end(JSON.stringify(wire.failure(step)));
}

async function answerStreamed(exchange: Exchange, step: ReplyStep): Promise<void> {
  const { wire, response, model, serial } = exchange;
  const frames = wire.frames(step, model, serial);
  const half = Math.ceil(frames.length / 2);
  response.writeHead(200, { 'content-type': wire.streamType ?? SERVER_SENT_EVENTS, 'cache-control': 'no-cache' });
  // Begins with a comment, and splits frames in the middle of a line: clients have to handle both.
  const comment = wire.streamType === undefined ? [': stand-in\n\n'] : [];
  await writeTorn(response, [...comment, ...frames.slice(0, half)]);
  if (step.midway === 'cut') return exchange.cut();
  if (step.midway === 'hang' && !(await exchange.released())) return;
  if (step.midway !== 'end') await writeTorn(response, frames.slice(half));
  response.end();
}

async function answerWhole(exchange: Exchange, step: ReplyStep): Promise<void> {
  const { wire, response, model, serial } = exchange;
  const body = Buffer.from(JSON.stringify(wire.reply(step, model, serial)));
  const half = Math.ceil(body.length / 2);
  response.writeHead(200, { 'content-type': 'application/json', 'content-length': body.length });
  await write(response, body.subarray(0, half));
  if (step.midway === 'cut' || step.midway === 'end') return exchange.cut();
  if (step.midway === 'hang' && !(await exchange.released())) return;
  response.end(body.subarray(half));
}

async function writeTorn(response: ServerResponse, frames: readonly Frame[]): Promise<void> {
  const bytes = Buffer.concat(frames.map((frame) => Buffer.from(frame)));
  const size = Math.max(1, Math.ceil(bytes.length / 7));
  for (let at = 0; at < bytes.length; at += size) await write(response, bytes.subarray(at, at + size));
}

/** Resolves when the chunk has been passed to the network, or the client has disconnected. */
function write(response: ServerResponse, bytes: Uint8Array): Promise<void> {
  return new Promise((resolve) => {
    response.write(bytes, () => setImmediate(resolve));
  });
}

interface EmbeddingContext {
  readonly options: EmbeddingOptions & { readonly key?: string };
  readonly recording: Recording;
  readonly held: Held;
  /** The body of an error. */
  failure(step: FailStep): unknown;
}

interface Incoming {
  readonly path: string;
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly body: unknown;
}

/** Handles requests for embeddings. @returns whether the request was one */
function createEmbedding(wire: EmbeddingWire | undefined, { options, recording, held, failure }: EmbeddingContext) {
  const steps = [...(options.embedSteps ?? [])];

  return async function embed({ path, request, response, body }: Incoming): Promise<boolean> {
    const asked = request.method === 'POST' ? wire?.match(path, body) : undefined;
    if (wire === undefined || asked === undefined) return false;
    const { model, texts } = asked;
    const key = keyOf(request.headers);
    const prompt = { model, system: '', text: (texts ?? []).join('\n'), tools: [], results: [] };
    const end = recording.add({ path, headers: withoutKeys(request.headers), hasKey: key !== undefined, body, prompt });
    response.on('close', () => end(response.writableFinished ? 'answered' : 'aborted'));
    const send = (status: number, answer: unknown, headers: Readonly<Record<string, string>> = {}) => {
      response.writeHead(status, { 'content-type': 'application/json', ...headers });
      response.end(JSON.stringify(answer));
    };
    const failWith = (step: FailStep) => {
      const { status, retryAfterSeconds: seconds } = step;
      send(status, failure(step), seconds === undefined ? {} : { 'retry-after': String(seconds) });
      return true;
    };

    if (options.key !== undefined && key !== options.key) {
      return failWith(fail(401, { message: `invalid key: ${key ?? 'none'}` }));
    }
    if (texts === undefined) return failWith(fail(400, { message: 'This input cannot be embedded.' }));
    const step = steps.shift();
    if (step?.kind === 'hang' && !(await hold(response))) return true;
    const failed = step?.kind === 'hang' ? step.then : step;
    if (failed?.kind === 'fail') return failWith(failed);
    send(200, wire.reply(texts.map(options.embed ?? wordVector), asked));
    return true;
  };

  /** @returns whether the client is still connected */
  function hold(response: ServerResponse): Promise<boolean> {
    return held.hold((gone) => {
      response.once('close', gone);
      return () => response.off('close', gone);
    });
  }
}
