/** A stream of events that ends early when its text grows too long. */
export interface BoundedStream<T> extends AsyncIterable<T> {
  /** When it ended early, so that what has come is the beginning of the answer: how many bytes of text were read. */
  readonly cutAfterBytes: number | undefined;
}

/**
 * Passes events on until their texts hold more than `mostBytes` of UTF-8. The rest is not read: leaving the loop ends the request.
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

/** The beginning of a text that fits in so many bytes of UTF-8. */
export function beginningOf(text: string, mostBytes: number): string {
  const bytes = Buffer.from(text);
  if (bytes.length <= mostBytes) return text;
  // A character that is cut through becomes U+FFFD.
  return bytes
    .subarray(0, mostBytes)
    .toString()
    .replace(/\uFFFD+$/, '');
}
