import type { LlmRequest } from '@cinnabar/sdk';
import { castOf } from './cast.js';
import { resultLabel } from './margin.js';

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
