import type { ServerResponse } from 'node:http';
import type { FailStep, ModelStep, ReplyStep } from './steps.js';
import type { Frame, Wire } from './wire.js';

const SERVER_SENT_EVENTS = 'text/event-stream; charset=utf-8';

/** One exchange under way. */
export interface Exchange {
  readonly wire: Wire;
  readonly response: ServerResponse;
  readonly model: string;
  readonly streamed: boolean;
  readonly serial: number;
  /** Resolves `true` on release, `false` when the client has gone. */
  released(): Promise<boolean>;
  /** Ends the connection without an answer. */
  cut(): void;
}

/** Carries a step out on the wire. */
export async function answer(exchange: Exchange, step: ModelStep): Promise<void> {
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
export function answerFailure({ wire, response, streamed }: Exchange, step: FailStep): void {
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
  // A comment in front, and frames torn apart in the middle of a line: a client has to cope with both.
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

/** Resolves when the piece has been handed to the network, or the client has gone. */
function write(response: ServerResponse, bytes: Uint8Array): Promise<void> {
  return new Promise((resolve) => {
    response.write(bytes, () => setImmediate(resolve));
  });
}
