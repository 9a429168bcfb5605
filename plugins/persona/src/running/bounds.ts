import { type Clock, type LlmCompletion, tokensOf } from '@cinnabar/sdk';
import type { PersonaSettings } from '../settings.js';

export type Limits = Pick<PersonaSettings, 'maxActions' | 'maxCalls' | 'maxExtensions' | 'maxTokens' | 'maxSeconds'>;

/** What a run has used of what it may use. */
export interface Bounds {
  /** The bound that no other call to the model would keep, in words. */
  callRefusal(): string | undefined;
  /** A call is made: counted before it is known how it ends. */
  countCall(): void;
  spend(completion: LlmCompletion): void;
  readonly completions: readonly LlmCompletion[];
  readonly calls: number;
}

export function createBounds(limits: Limits, clock: Pick<Clock, 'now'>): Bounds {
  const startedAt = clock.now();
  const completions: LlmCompletion[] = [];
  let calls = 0;
  let tokens = 0;
  return {
    callRefusal() {
      if (calls >= limits.maxCalls) return `${limits.maxCalls} calls of the language model are the limit for one run`;
      if (tokens >= limits.maxTokens) return `${limits.maxTokens} tokens are the limit for one run`;
      if (clock.now() - startedAt >= limits.maxSeconds * 1_000) return timeUp(limits);
      return undefined;
    },
    countCall() {
      calls += 1;
    },
    spend(completion) {
      completions.push(completion);
      tokens += tokensOf(completion.usage);
    },
    completions,
    get calls() {
      return calls;
    },
  };
}

export function timeUp({ maxSeconds }: Pick<Limits, 'maxSeconds'>): string {
  return `${maxSeconds} seconds are the limit for one run`;
}
