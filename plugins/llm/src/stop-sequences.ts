import type { LlmCompletion, LlmRequest } from '@cinnabar/sdk';
import { castOf, resultLabel } from './prefill/script.js';

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

/**
 * Where the model has to stop: where another speaker's line would begin, or a result. `Alice:` is looked for at the start
 * of a line only, so that a sentence may say it; sequences of that form that the caller gives mean the same.
 * @param atMost what the provider takes; the latest speakers are the likeliest
 */
export function prefillStops(request: LlmRequest, atMost: number): readonly string[] {
  const { self, labels } = castOf(request);
  const given = givenStops(request);
  const latestFirst = [...new Set(request.messages.map(({ participant }) => participant).reverse())];
  const speakers = latestFirst.flatMap((participant) => labels.get(participant) ?? []);
  const results = (request.tools ?? []).length === 0 ? [] : [`\n${resultLabel(self, '')}`.replace(/\]$/, '')];
  const all = [...given, ...results, ...speakers.map((label) => `\n${label}:`), `\n${self}:`];
  return [...new Set(all)].slice(0, atMost);
}

/** The caller's own, beside the names of speakers. */
export function givenStops(request: LlmRequest): readonly string[] {
  const { self, labels } = castOf(request);
  const names = new Set([...labels.keys(), ...labels.values(), request.self, self].map((name) => `${name}:`));
  return (request.stopSequences ?? []).filter((stop) => stop.trim() !== '' && !names.has(stop.trim()));
}
