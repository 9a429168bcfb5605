import type { LlmCompletion } from '@cinnabar/sdk';

/** The content up to the first stop sequence; `undefined` when there is none: for what a provider does not take, or not so many of. */
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

/**
 * What of a growing text is certain to stand before the first stop sequence: without an end that may turn out to be the beginning of one.
 */
export function surelyBeforeStop(text: string, stops: readonly string[]): string {
  let end = text.length;
  for (const stop of stops) {
    if (stop === '') continue;
    const place = text.indexOf(stop);
    end = Math.min(end, place >= 0 ? place : text.length - begunAtEnd(text, stop));
  }
  return text.slice(0, end);
}

/** How many characters at the end of the text are the beginning of the stop sequence. */
function begunAtEnd(text: string, stop: string): number {
  for (let length = Math.min(stop.length - 1, text.length); length > 0; length -= 1) {
    if (text.endsWith(stop.slice(0, length))) return length;
  }
  return 0;
}
