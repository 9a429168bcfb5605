import {
  type CheckResult,
  CinnabarError,
  type Clock,
  createDeadline,
  type Embeddings,
  type ErrorCode,
  type Llm,
  type LlmRequest,
  type Logger,
  type ModelPrice,
  type OnUse,
  operatorSentenceOf,
  type Random,
  sentenceOf,
  t,
  type UnmeteredLlm,
} from '@cinnabar/sdk';
import {
  attemptOnce,
  boundsUntil,
  CANCELLED,
  type Candidate,
  candidateFor,
  createLearned,
  interrupted,
  judged,
  type Learned,
  omittedFor,
  planCall,
  type Setup,
  within,
  withRetries,
} from './attempt.js';
import type { Bodies, RequestBodies } from './bodies.js';
import type { Breakers } from './circuit-breaker.js';
import { boundReply, finishCompletion } from './completion.js';
import { unreadable } from './providers/errors.js';
import type { Attempt, Failure, Mode, Provider } from './providers/provider.js';
import { type ModelMetrics, vendorFinding } from './status.js';
import { createListener, type Listener } from './streaming.js';
import { traitsOf } from './traits.js';

interface ModelsDependencies {
  /** @throws CINNABAR_LLM_NOT_CONFIGURED */
  setup(): Promise<Setup>;
  /** The last known provider and model that answer requests. */
  readonly current: () => Llm['current'];
  readonly breakers: Breakers;
  readonly metrics?: ModelMetrics;
  readonly bodies?: Bodies;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Logger;
  /** Called for every model that failed, with details for the owner only. */
  readonly onFailure?: (error: CinnabarError) => void;
  /** Aborts when the plugin stops. */
  readonly signal: AbortSignal;
}

/** Time limit of a vendor's check. */
const LOOK_MS = 5_000;

/** The fraction of the remaining time that a model may use while there are further candidates. */
const FIRST_SHARE = 2 / 3;

/** Failures after which another model may succeed. */
const ASK_ANOTHER: ReadonlySet<ErrorCode> = new Set([
  'CINNABAR_LLM_RATE_LIMITED',
  'CINNABAR_LLM_UNAVAILABLE',
  'CINNABAR_LLM_TIMEOUT',
  'CINNABAR_LLM_PAUSED',
]);

/** The models: selects candidates, limits and retries each attempt, tries fallbacks, and validates the answers. */
export function createModels(parts: ModelsDependencies): UnmeteredLlm {
  const { clock, random, breakers } = parts;
  const learned = createLearned();

  const answer = async (
    request: LlmRequest,
    candidate: Candidate,
    {
      setup,
      listener,
      bodies,
      deadlineAt,
      onUse,
    }: {
      readonly setup: Setup;
      readonly listener: Listener | undefined;
      readonly bodies: RequestBodies | undefined;
      readonly deadlineAt: number;
      readonly onUse: OnUse;
    },
  ) => {
    const { settings } = setup;
    const log = parts.log.child({ provider: candidate.provider.name, model: candidate.model });
    const signals = [parts.signal, ...(request.signal === undefined ? [] : [request.signal])];
    const bounds = { clock, timeoutMs: request.timeoutMs ?? settings.timeoutMs, signals };
    const breaker = breakers.for(candidate.vendor, candidate.model);
    let mode: Mode = 'chat';
    const onStart = (started: Mode) => {
      mode = started;
      listener?.begin(started);
    };
    const attemptParts = { bodies, setup, learned, log, onStart, onText: listener?.push };
    const rules = {
      retries: request.retries ?? settings.retries,
      retryDelayMs: settings.retryDelayMs,
      deadlineAt,
      clock,
      signals,
      log,
    };
    const startedMs = clock.now();
    const attempt = await withRetries(rules, () =>
      breaker.run(async () => {
        const given = boundsUntil(deadlineAt, bounds);
        return judged(await attemptOnce(candidate, request, { ...attemptParts, bounds: given }), bounds, given);
      }),
    );
    if (!attempt.ok) {
      parts.metrics?.ended(candidate, startedMs, attempt.failure);
      return attempt;
    }
    const reply = boundReply(request, attempt.reply, settings.maxAnswerBytes);
    // Counted here, since the provider charges for an answer even when it cannot be parsed.
    parts.metrics?.ended(candidate, startedMs, reply);
    const { name } = candidate.provider;
    const price = priceOf(setup, reply.model, learned);
    onUse({ kind: 'completion', model: reply.model, provider: name, mode, usage: reply.usage, price });
    const omitted = omittedFor(setup, candidate, request, learned);
    const read = finishCompletion(request, name, reply, mode, () => random.id(), settings.maxToolCalls);
    const completion = omitted.length === 0 ? read : { ...read, omitted };
    const { stopReason, usage } = completion;
    log.debug('model answered', { stopReason, mode, ...usage, ms: clock.now() - startedMs });
    return { ok: true as const, completion };
  };

  return {
    get current() {
      return parts.current();
    },
    async complete(request, onUse) {
      const bodies = parts.bodies?.begin();
      const setup = await parts.setup();
      const listener = request.onText && createListener(request, request.onText);
      const endAt = endOf(request, setup);
      let others = request.fallbacks?.length ?? 0;
      let failed: Failure | undefined;
      for (const candidate of candidates(setup, request)) {
        const leftMs = endAt - clock.now();
        // A model that does not answer must leave time for the other candidates.
        const deadlineAt = others > 0 ? clock.now() + leftMs * FIRST_SHARE : endAt;
        others -= 1;
        const outcome = await answer(request, candidate, { setup, listener, bodies, deadlineAt, onUse });
        if (outcome.ok) {
          listener?.finish(outcome.completion.content);
          return outcome.completion;
        }
        parts.onFailure?.(toError(outcome.failure));
        if (!ASK_ANOTHER.has(outcome.failure.code)) throw toError(outcome.failure);
        failed ??= outcome.failure;
      }
      throw toError(failed ?? CANCELLED);
    },
    ...createEmbeddings(parts),
    async findings(request) {
      try {
        let first: CheckResult | undefined;
        for (const candidate of candidates(await parts.setup(), request)) {
          const found = await findingOf(candidate);
          if (found.ok) return [found];
          first ??= found;
        }
        return first === undefined ? [] : [first];
      } catch (error) {
        const text = sentenceOf(error);
        if (text === undefined) throw error;
        const remedy = t('The owner of the bot connects a model: `llm status` says what is missing.');
        return [{ ok: false, text: text.replace(/\.$/, ''), remedy }];
      }
    },
    async traits(model) {
      return candidateFor(await parts.setup(), model, learned).traits;
    },
    async render(request) {
      const setup = await parts.setup();
      const candidate = candidateFor(setup, request.model, learned);
      const call = planCall(setup, candidate, request, learned, parts.signal);
      const { provider, model } = candidate;
      return { provider: provider.name, model, mode: call.mode, body: await provider.render(call) };
    },
  };

  async function findingOf({ vendor, model }: Candidate): Promise<CheckResult> {
    if (breakers.for(vendor, model).refuses) {
      const text = t('the model `{model}` of {vendor} has failed, and is not asked for a moment', {
        model,
        vendor: vendor.name,
      });
      return {
        ok: false,
        text,
        remedy: t('Wait half a minute. If the problem continues, the owner of the bot finds the reason with `doctor`.'),
      };
    }
    const deadline = createDeadline(clock, LOOK_MS, [parts.signal]);
    return vendorFinding(vendor, model, deadline.signal).finally(() => deadline.end());
  }

  /** The deadline for the answer. One attempt may always use its whole time limit, unless the caller's deadline is earlier. */
  function endOf({ deadlineAt = Number.POSITIVE_INFINITY, timeoutMs }: LlmRequest, { settings }: Setup): number {
    return Math.min(deadlineAt, clock.now() + Math.max(settings.deadlineMs, timeoutMs ?? settings.timeoutMs));
  }

  /** The requested model, then the fallbacks; a fallback that no vendor provides is skipped. */
  function* candidates(setup: Setup, request: Pick<LlmRequest, 'model' | 'fallbacks'>): Generator<Candidate> {
    const first = candidateFor(setup, request.model, learned);
    yield first;
    const tried = new Set([first.name]);
    for (const wanted of request.fallbacks ?? []) {
      const candidate = fallback(setup, wanted);
      if (candidate === undefined || tried.has(candidate.name)) continue;
      tried.add(candidate.name);
      parts.log.warn('model failed, another one is asked', { model: candidate.model });
      yield candidate;
    }
  }

  function fallback(setup: Setup, wanted: string): Candidate | undefined {
    try {
      return candidateFor(setup, wanted, learned);
    } catch (error) {
      if (!(error instanceof Error) || operatorSentenceOf(error) === undefined) throw error;
      parts.log.warn(error.message);
      return undefined;
    }
  }
}

/** The price of the model that has answered, whose name may be more exact than the requested one. */
function priceOf(setup: Setup, model: string, learned: Learned): ModelPrice | undefined {
  try {
    return candidateFor(setup, model, learned).traits.price;
  } catch {
    return undefined;
  }
}

function toError({ code, params }: Failure): CinnabarError {
  return new CinnabarError(code, params);
}

/** Computes embeddings: in as many requests as the vendor's limit requires, one after another, each limited and retried like a completion. */
function createEmbeddings(
  parts: Pick<ModelsDependencies, 'setup' | 'breakers' | 'metrics' | 'clock' | 'log' | 'signal'>,
): Pick<UnmeteredLlm, 'embed' | 'embeddingModel'> {
  const { breakers, clock } = parts;
  const routeFor = async (wanted: string | undefined) => {
    const setup = await parts.setup();
    const route = setup.routes.embeddings(wanted);
    const provider = route === undefined ? undefined : setup.providerFor(route.vendor);
    if (route === undefined || provider?.embed === undefined) return undefined;
    const { price } = traitsOf(route.vendor.definition, route.model, setup.settings.models);
    return { setup, provider, price, ...route };
  };
  const embeddingModel: UnmeteredLlm['embeddingModel'] = (wanted) => routeFor(wanted);
  const embed: UnmeteredLlm['embed'] = async (texts, options, onUse) => {
    const route = await routeFor(options.model);
    if (route === undefined) return undefined;
    const { setup, provider, vendor, model, price } = route;
    const { timeoutMs, retries, retryDelayMs, deadlineMs } = setup.settings;
    const signals = [parts.signal, ...(options.signal === undefined ? [] : [options.signal])];
    const log = parts.log.child({ provider: provider.name, model });
    const breaker = breakers.for(vendor, model);

    let all: Embeddings = { vectors: [], model, tokens: 0 };
    for (const batch of batchesOf(texts, provider.mostTexts)) {
      const deadlineAt = clock.now() + Math.max(deadlineMs, timeoutMs);
      const rules = { retries, retryDelayMs, deadlineAt, clock, signals, log };
      const attempt = await withRetries(rules, () =>
        breaker.run(async (): Promise<Attempt<Embeddings>> => {
          const bounds = boundsUntil(deadlineAt, { clock, timeoutMs, signals });
          const end = await within(bounds, (signal) => askFor(provider, { model, texts: batch, signal }));
          return end.done ? end.value : interrupted(end.why, bounds);
        }),
      );
      if (!attempt.ok) throw new CinnabarError(attempt.failure.code, attempt.failure.params);
      const { vectors, tokens, model: named } = attempt.reply;
      parts.metrics?.embedded(model, tokens);
      const usage = { inputTokens: tokens, outputTokens: 0 };
      onUse({ kind: 'embedding', model: named, provider: provider.name, usage, price });
      all = { vectors: [...all.vectors, ...vectors], model: named, tokens: all.tokens + tokens };
    }
    log.debug('texts embedded', { texts: texts.length, tokens: all.tokens });
    return all;
  };
  return { embed, embeddingModel };
}

async function askFor(
  provider: Provider,
  call: Parameters<NonNullable<Provider['embed']>>[0],
): Promise<Attempt<Embeddings>> {
  const attempt = await provider.embed?.(call);
  if (attempt === undefined) return { ok: false, failure: unreadable('it has no embeddings') };
  if (!attempt.ok) return attempt;
  const { vectors } = attempt.reply;
  const [first] = vectors;
  const isSound = vectors.every((vector) => vector.length === first?.length && vector.every(Number.isFinite));
  if (vectors.length === call.texts.length && isSound && first?.length !== 0) return attempt;
  return { ok: false, failure: unreadable('it is not one vector for each text') };
}

/** Splits texts into requests. Empty texts, which vendors refuse, are replaced by a space. */
function batchesOf(texts: readonly string[], most = texts.length): readonly (readonly string[])[] {
  const sent = texts.map((text) => (text === '' ? ' ' : text));
  return Array.from({ length: Math.ceil(sent.length / Math.max(1, most)) }, (_, index) =>
    sent.slice(index * most, (index + 1) * most),
  );
}
