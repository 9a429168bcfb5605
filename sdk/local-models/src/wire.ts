import { z } from 'zod';
import type { FailStep, PromptView, ReplyStep } from './steps.js';

/** The reason why the real API would refuse a request. */
export interface Rejection {
  readonly status: number;
  readonly message: string;
  readonly param?: string;
}

/** The format of an endpoint: its requests and responses. */
export interface Wire {
  /** The properties of a request to this path; `undefined` when it is another endpoint's. */
  match(path: string, body: unknown): Match | undefined;
  /** `undefined` when the real API would accept the body. */
  reject(body: unknown, rules: Rules): Rejection | undefined;
  view(body: unknown): PromptView;
  /** The body of a response that is not streamed. `serial` makes ids unique. */
  reply(step: ReplyStep, model: string, serial: number): unknown;
  /** The events of a streamed response, each a complete frame. */
  frames(step: ReplyStep, model: string, serial: number): readonly Frame[];
  /** Content type of a stream; default: `text/event-stream`. */
  readonly streamType?: string;
  /** The body of an error. */
  failure(step: FailStep): unknown;
  /** An error in the middle of a stream: a complete frame. */
  failureFrame(step: FailStep): Frame;
  /** Headers of an error. */
  failureHeaders?(step: FailStep): Readonly<Record<string, string>>;
}

/** The capabilities of the model behind an endpoint. */
export interface Rules {
  readonly prefill: boolean;
  readonly forcedTools: boolean;
}

/** A chunk of a streamed response: text for server-sent events, bytes for other framings. */
export type Frame = string | Uint8Array;

export interface Match {
  readonly model: string;
  readonly streamed: boolean;
}

const HEAD = z.looseObject({ model: z.string().default(''), stream: z.boolean().nullish() });

/** For endpoints with one path, whose body contains the model's name and `stream`. */
export function atPath(wanted: string): Wire['match'] {
  return (path, body) => {
    if (path !== wanted) return undefined;
    const head = HEAD.safeParse(body).data;
    return { model: head?.model ?? '', streamed: head?.stream === true };
  };
}

/** A server-sent event. */
export function frame(data: unknown, event?: string): string {
  const head = event === undefined ? '' : `event: ${event}\n`;
  return `${head}data: ${typeof data === 'string' ? data : JSON.stringify(data)}\n\n`;
}

/** Length of a chunk in characters. */
const PIECE = 8;

/** Splits a text into chunks of a few characters, as a model streams it. Never empty. */
export function pieces(text: string): readonly string[] {
  const characters = [...text];
  const parts: string[] = [];
  for (let at = 0; at < characters.length; at += PIECE) parts.push(characters.slice(at, at + PIECE).join(''));
  return parts.length === 0 ? [''] : parts;
}

/** The arguments of a scripted call as raw text. */
export function rawArguments(call: {
  readonly raw?: string;
  readonly arguments?: Readonly<Record<string, unknown>>;
}): string {
  return call.raw ?? JSON.stringify(call.arguments ?? {});
}

/** Parses JSON; `undefined` when it is invalid. */
export function readJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
