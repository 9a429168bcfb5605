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
