import type { LlmCompletion, LlmRequest } from '@cinnabar/sdk';
import { type AnswerReader, createAnswerReader, givenStops } from './prefill/script.js';
import type { Mode } from './providers/provider.js';

/** Calls `onText` with an answer as it arrives, over all attempts and models. */
export interface Listener {
  /** Call it at the beginning of each attempt. */
  begin(mode: Mode): void;
  push(piece: string): void;
  /** Call it when the answer is complete: corrects the passed text to exactly its text. */
  finish(content: LlmCompletion['content']): void;
}

export function createListener(request: LlmRequest, onText: NonNullable<LlmRequest['onText']>): Listener {
  const inChat = untilStops(shownInChat(request.self), request.output === undefined ? request.stopSequences : []);
  let shown = inChat;
  const stream = createPieceStream(onText, () => shown);
  return {
    begin(mode) {
      shown =
        mode === 'prefill' ? untilStops(shownInPrefill(createAnswerReader(request)), givenStops(request)) : inChat;
      stream.restart();
    },
    push: stream.push,
    finish: (content) => stream.finish(content.map((block) => (block.type === 'text' ? block.text : '')).join('')),
  };
}

/** Hides text after a stop sequence until the sequence is removed, since providers accept a limited number of stop sequences. */
function untilStops(shown: Shown, stops: readonly string[] = []): Shown {
  return (raw) => shown(surelyBeforeStop(raw, stops));
}

/** The part of an unfinished answer that may already be shown: a beginning of its final text. */
type Shown = (raw: string) => string;

/** In chat mode: everything, once the answer cannot start with the model's own name any more. */
function shownInChat(self: string): Shown {
  const name = `${self}:`;
  return (raw) => {
    const start = raw.trimStart();
    if (start.startsWith(name)) return start.slice(name.length).trimStart();
    return name.startsWith(start) ? '' : raw;
  };
}

/** In prefill mode: up to the last line that cannot become another speaker's, a call or a result any more. */
function shownInPrefill(reader: AnswerReader): Shown {
  return (raw) => {
    const lineStart = raw.lastIndexOf('\n') + 1;
    const decided = reader.isUndecided(raw.slice(lineStart).trimStart()) ? raw.slice(0, lineStart) : raw;
    return reader.read(decided, () => '').text;
  };
}

/** Passes the text of one answer to the caller's `onText`. */
interface PieceStream {
  /** Begins a new attempt: earlier text is discarded. */
  restart(): void;
  push(piece: string): void;
  /** Corrects the passed text to exactly this text. */
  finish(text: string): void;
}

function createPieceStream(onText: NonNullable<LlmRequest['onText']>, shown: () => Shown): PieceStream {
  let raw = '';
  let passed = '';
  let stale = false;
  const pass = (piece: string) => {
    onText(piece, stale);
    stale = false;
    passed += piece;
  };
  const restart = () => {
    stale ||= passed !== '';
    raw = '';
    passed = '';
  };
  return {
    restart,
    push(piece) {
      raw += piece;
      const text = shown()(raw);
      // White space is held back, since it may be the end of the answer, which is trimmed.
      const sure = text.slice(0, text.trimEnd().length);
      if (sure.length > passed.length && sure.startsWith(passed)) pass(sure.slice(passed.length));
    },
    finish(text) {
      if (!text.startsWith(passed)) restart();
      const rest = text.slice(passed.length);
      if (rest !== '' || stale) pass(rest);
    },
  };
}

/** A stream of events that ends early when its text exceeds a limit. */
interface BoundedStream<T> extends AsyncIterable<T> {
  /** The number of bytes of text that were read, when the stream ended early. */
  readonly cutAfterBytes: number | undefined;
}

/**
 * Passes events on until their texts exceed `mostBytes` of UTF-8. The rest is not read: leaving the loop ends the request.
 * @param textsOf the texts of one event
 */
export function bounded<T>(
  events: AsyncIterable<T>,
  mostBytes: number,
  textsOf: (event: T) => readonly (string | null | undefined)[],
): BoundedStream<T> {
  let bytes = 0;
  let isCut = false;
  return {
    get cutAfterBytes() {
      return isCut ? bytes : undefined;
    },
    async *[Symbol.asyncIterator]() {
      for await (const event of events) {
        yield event;
        for (const text of textsOf(event)) bytes += Buffer.byteLength(text ?? '');
        if (bytes <= mostBytes) continue;
        isCut = true;
        return;
      }
    },
  };
}

/** The longest beginning of a text that fits in `mostBytes` of UTF-8. */
export function beginningOf(text: string, mostBytes: number): string {
  const bytes = Buffer.from(text);
  if (bytes.length <= mostBytes) return text;
  // An incomplete character becomes U+FFFD.
  return bytes
    .subarray(0, mostBytes)
    .toString()
    .replace(/\uFFFD+$/, '');
}

/** The content up to the first stop sequence, for sequences that a provider does not support; `undefined` when the content has none. */
export function untilStop(
  content: LlmCompletion['content'],
  stops: readonly string[],
): LlmCompletion['content'] | undefined {
  const wanted = stops.filter((stop) => stop !== '');
  for (const [index, block] of content.entries()) {
    if (block.type !== 'text') continue;
    const places = wanted.map((stop) => block.text.indexOf(stop)).filter((place) => place >= 0);
    if (places.length > 0) {
      return [...content.slice(0, index), { type: 'text', text: block.text.slice(0, Math.min(...places)) }];
    }
  }
  return undefined;
}

/** The part of a growing text that precedes any stop sequence: without an end that may be the beginning of one. */
function surelyBeforeStop(text: string, stops: readonly string[]): string {
  let end = text.length;
  for (const stop of stops) {
    if (stop === '') continue;
    const place = text.indexOf(stop);
    end = Math.min(end, place >= 0 ? place : text.length - begunAtEnd(text, stop));
  }
  return text.slice(0, end);
}

/** The length of the longest end of the text that is a beginning of the stop sequence. */
function begunAtEnd(text: string, stop: string): number {
  for (let length = Math.min(stop.length - 1, text.length); length > 0; length -= 1) {
    if (text.endsWith(stop.slice(0, length))) return length;
  }
  return 0;
}
