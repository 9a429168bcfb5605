import type { IncomingMessage, ServerResponse } from 'node:http';
import { type EmbeddingOptions, type EmbeddingWire, wordVector } from './embedding.js';
import type { Held } from './held.js';
import { keyOf, type Recording, withoutKeys } from './recording.js';
import { type FailStep, fail } from './steps.js';

interface Parts {
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

/** Answers requests for embeddings. Resolves with whether it was one. */
export function createEmbedding(wire: EmbeddingWire | undefined, { options, recording, held, failure }: Parts) {
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

  /** Resolves with whether the client is still there. */
  function hold(response: ServerResponse): Promise<boolean> {
    return held.hold((gone) => {
      response.once('close', gone);
      return () => response.off('close', gone);
    });
  }
}
