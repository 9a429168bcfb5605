import {
  CinnabarError,
  type Clock,
  type ImageContent,
  type Llm,
  type LlmCompletion,
  type LlmRequest,
  likenessOf,
  tokensOf,
  type z,
} from '@cinnabar/sdk';
import { inert } from '../conversation/render.js';
import type { PersonaSettings } from '../settings.js';
import type { RunContext } from './run-context.js';

/** How a question to the model ended. What the provider could not answer at all is thrown. */
export type Answer<T> =
  | { readonly kind: 'answer'; readonly value: T }
  /** Also after it was asked to repair it. */
  | { readonly kind: 'malformed'; readonly detail: string }
  | { readonly kind: 'bound'; readonly message: string };

interface Question<S extends z.ZodObject> {
  /** What the answer is called in the provider's request. */
  readonly name: string;
  readonly schema: S;
  readonly system: string;
  /** Everything that is particular to this moment. */
  readonly prompt: string;
  /** To be looked at beside it. */
  readonly images?: readonly ImageContent[];
}

export type Ask = <S extends z.ZodObject>(question: Question<S>) => Promise<Answer<z.output<S>>>;

/** The participant that everything comes from. */
const SITUATION = 'Situation';

/** Asks for structured output, within the run's bounds; an answer that does not fit may be repaired once. */
export function createAsk({ run, charge, settings }: RunContext, bounds: Bounds, llm: Llm): Ask {
  const { self, signal } = run;
  // Under its own name, it would be what the persona itself has said.
  const participant = likenessOf(self) === likenessOf(SITUATION) ? 'Scene' : SITUATION;
  const once = async <S extends z.ZodObject>(question: Question<S>, repair: string): Promise<Answer<z.output<S>>> => {
    const refusal = bounds.callRefusal();
    if (refusal !== undefined) return { kind: 'bound', message: refusal };
    const text = `${question.prompt}${repair}`;
    const request: LlmRequest = {
      self,
      system: question.system,
      messages: [{ participant, content: [{ type: 'text', text }, ...(question.images ?? [])] }],
      output: { name: question.name, schema: question.schema },
      cache: { system: { type: 'ephemeral' } },
      maxTokens: settings.maxReplyTokens,
      signal,
      ...(settings.model === undefined ? {} : { model: settings.model }),
    };
    bounds.countCall();
    try {
      const completion = await llm.complete({ ...request, charge });
      bounds.spend(completion);
      const parsed = question.schema.safeParse(completion.structured);
      return parsed.success
        ? { kind: 'answer', value: parsed.data }
        : { kind: 'malformed', detail: 'it has another form' };
    } catch (error) {
      if (!(error instanceof CinnabarError) || error.code !== 'CINNABAR_LLM_MALFORMED') throw error;
      return { kind: 'malformed', detail: String(error.params.detail ?? '').slice(0, 500) };
    }
  };

  return async (question) => {
    const first = await once(question, '');
    if (first.kind !== 'malformed') return first;
    const repair = `\n\nMy answer could not be used (${inert(first.detail)}). I answer again, with nothing but JSON of the form asked for.`;
    const second = await once(question, repair);
    return second.kind === 'bound' ? first : second;
  };
}

type Limits = Pick<PersonaSettings, 'maxActions' | 'maxCalls' | 'maxExtensions' | 'maxTokens' | 'maxSeconds'>;

export type Bounds = ReturnType<typeof createBounds>;

/** What a run has used of what it may use. */
export function createBounds(limits: Limits, clock: Pick<Clock, 'now'>) {
  const startedAt = clock.now();
  const completions: LlmCompletion[] = [];
  let calls = 0;
  let tokens = 0;
  return {
    /** The bound that no other call to the model would keep, in words. */
    callRefusal(): string | undefined {
      if (calls >= limits.maxCalls) return `${limits.maxCalls} calls of the language model are the limit for one run`;
      if (tokens >= limits.maxTokens) return `${limits.maxTokens} tokens are the limit for one run`;
      if (clock.now() - startedAt >= limits.maxSeconds * 1_000) return timeUp(limits);
      return undefined;
    },
    /** A call is made: counted before it is known how it ends. */
    countCall(): void {
      calls += 1;
    },
    spend(completion: LlmCompletion): void {
      completions.push(completion);
      tokens += tokensOf(completion.usage);
    },
    completions,
    get calls(): number {
      return calls;
    },
  };
}

export function timeUp({ maxSeconds }: Pick<Limits, 'maxSeconds'>): string {
  return `${maxSeconds} seconds are the limit for one run`;
}
