import type { Clock } from '@cinnabar/sdk';

/** A server exceeded a limit. The message is a clause for people: "it sent …". */
export class IntakeError extends Error {
  override readonly name = 'IntakeError';
}

/** Media of one result have at most 5 MB, which are 7 in base64. */
const MOST_BYTES = 8 * 1024 * 1024;
/** Values, keys and brackets of one message: parsing very many of them blocks the main thread for seconds. */
const MOST_PARTS = 50_000;
const MOST_BYTES_PER_MINUTE = 64 * 1024 * 1024;
const MINUTE_MS = 60_000;
/** Minimum size that is counted for a message or an answer, so that very many empty ones exceed the limit. */
const LEAST = 4 * 1024;

const CARRIAGE_RETURN = 0x0d;
const COLON = 0x3a;

/** The classes of bytes in JSON. */
const ORDINARY = 0;
const LINE_FEED = 1;
const QUOTE = 2;
const BACKSLASH = 3;
const STRUCTURE = 4;
const KINDS = new Uint8Array(256).fill(ORDINARY);
KINDS[0x0a] = LINE_FEED;
KINDS[0x22] = QUOTE;
KINDS[0x5c] = BACKSLASH;
for (const character of '[{,:') KINDS[character.charCodeAt(0)] = STRUCTURE;

/** Where a byte is: outside of strings, in a string, or after a backslash in a string. */
const OUTSIDE = 0;
const IN_TEXT = 1;
const ESCAPED = 2;
/** The next state, by the state and the class of a byte. */
const NEXT = [
  [OUTSIDE, OUTSIDE, IN_TEXT, OUTSIDE, OUTSIDE],
  [IN_TEXT, OUTSIDE, OUTSIDE, ESCAPED, IN_TEXT],
  [IN_TEXT, OUTSIDE, IN_TEXT, IN_TEXT, IN_TEXT],
].flat();
const KIND_COUNT = 5;

/** The end of a message: a line feed, an empty line, or the end of the body. */
export type Framing = 'line' | 'event' | 'body';

/** The limits of one server's messages: bytes per message, and per minute. */
export interface Intake {
  /** Counts an answer, however short. @throws IntakeError */
  answer(): void;
  /** Returns a check for one stream, which gets its chunks before anything is parsed, and throws IntakeError. */
  watch(framing: Framing): (chunk: Uint8Array) => void;
}

export function createIntake(clock: Clock): Intake {
  let left = MOST_BYTES_PER_MINUTE;
  let countedAt = clock.now();
  const count = (bytes: number) => {
    const now = clock.now();
    left = Math.min(MOST_BYTES_PER_MINUTE, left + ((now - countedAt) / MINUTE_MS) * MOST_BYTES_PER_MINUTE) - bytes;
    countedAt = now;
    if (left < 0) throw new IntakeError(`it sent more than ${MOST_BYTES_PER_MINUTE / 1024 / 1024} MB within a minute`);
  };
  return {
    answer: () => count(4 * LEAST),
    watch(framing) {
      const message = createMessageCount(framing);
      return (chunk) => {
        count(chunk.byteLength + LEAST * message.add(chunk));
      };
    },
  };
}

function createMessageCount(framing: Framing) {
  let state = OUTSIDE;
  let parts = 0;
  /** Size of the message before the current line. */
  let before = { bytes: 0, parts: 0 };
  let lineBytes = 0;
  let firstByte = 0;

  const checkSize = () => {
    if (before.bytes + lineBytes > MOST_BYTES) {
      throw new IntakeError(`it sent a message of more than ${MOST_BYTES / 1024 / 1024} MB`);
    }
    if (parts > MOST_PARTS) throw new IntakeError(`it sent a message of more than ${MOST_PARTS} parts`);
  };

  /** @returns whether a message ends with the line */
  const endLine = () => {
    checkSize();
    const isEmpty = lineBytes === 0 || (lineBytes === 1 && firstByte === CARRIAGE_RETURN);
    const ends = framing === 'line' || (framing === 'event' && isEmpty);
    if (ends) before = { bytes: 0, parts: 0 };
    // A comment keeps a stream open, and belongs to no message.
    else if (framing !== 'event' || firstByte !== COLON) before = { bytes: before.bytes + lineBytes, parts };
    parts = before.parts;
    lineBytes = 0;
    return ends;
  };

  return {
    /** @returns the number of messages that ended in the chunk */
    add(chunk: Uint8Array): number {
      let ended = 0;
      let from = 0;
      if (lineBytes === 0) firstByte = chunk[0] ?? 0;
      // A simple loop, since it runs for every byte: a call for each byte would take twenty times as long.
      for (let at = 0; at < chunk.length; at += 1) {
        const kind = KINDS[chunk[at] ?? 0] ?? ORDINARY;
        if (kind === STRUCTURE && state === OUTSIDE) parts += 1;
        // A JSON string contains no line feed: an unmatched quote ends there.
        state = NEXT[state * KIND_COUNT + kind] ?? OUTSIDE;
        if (kind !== LINE_FEED) continue;
        lineBytes += at - from;
        if (endLine()) ended += 1;
        from = at + 1;
        firstByte = chunk[from] ?? 0;
      }
      lineBytes += chunk.length - from;
      checkSize();
      return ended;
    },
  };
}

type Fetch = typeof globalThis.fetch;

/**
 * `fetch` for one server, which checks answers as they arrive: an endless body, or an event without an end, fails instead of filling the memory.
 * @param onFlood called with the error, with which the body fails as well
 */
export function boundedFetch(intake: Intake, onFlood: (error: unknown) => void): Fetch {
  return async (input, init) => {
    const response = await fetch(input, init);
    try {
      intake.answer();
    } catch (error) {
      await response.body?.cancel();
      onFlood(error);
      throw error;
    }
    if (response.body === null) return response;
    const check = intake.watch(framingOf(response));
    const checked = new TransformStream<Uint8Array, Uint8Array>({
      transform(chunk, controller) {
        try {
          check(chunk);
          controller.enqueue(chunk);
        } catch (error) {
          controller.error(error);
          onFlood(error);
        }
      },
    });
    const { status, statusText, headers } = response;
    const bounded = new Response(response.body.pipeThrough(checked), { status, statusText, headers });
    // Callers use these two properties to check the origin of a response.
    return Object.defineProperties(bounded, {
      url: { value: response.url },
      redirected: { value: response.redirected },
    });
  };
}

function framingOf({ headers }: Response): Framing {
  return headers.get('content-type')?.startsWith('text/event-stream') === true ? 'event' : 'body';
}
