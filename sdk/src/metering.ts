import type { Actor, DecisionReason } from './access.js';
import {
  type Accounts,
  type Amount,
  billFor,
  budgetRefusal,
  formatCount,
  mostOf,
  type Receipt,
  type Reservation,
  type SentRequest,
  tokensOf,
} from './accounts.js';
import type { Clock, Random } from './clock.js';
import { UserError } from './errors.js';
import type { Embeddings, EmbedRequest, Llm, LlmCompletion, LlmRequest, ModelPrice, Usage } from './llm.js';
import type { CheckResult } from './observability.js';
import { t } from './text/language.js';

/**
 * The account and the reason of a request to a model. Budgets are checked before the request, and a receipt is written after it.
 * @example { actor: turn.actor, responder: 'chat', trigger: 'I was mentioned', work: turnId }
 */
export interface Charge {
  /** The member, channel and guild that it counts for. Without a requesting member, the user is the bot. */
  readonly actor: Actor;
  /** The responder or plugin that makes the request; `Receipt.mind`. */
  readonly responder: string;
  /** Why, in the first person, plain text: "I was mentioned". */
  readonly trigger: string;
  /**
   * Id of the piece of work that the request belongs to, unique for the responder in the channel: its requests share one receipt, and once the budgets have
   * admitted the first one, the others are admitted as well. Ends with `Llm.finishWork`. Without it, the request is a separate piece of work.
   */
  readonly work?: string;
}

/** The charge of a piece of work of several requests. */
export type WorkCharge = Charge & { readonly work: string };

/** Additions to the receipt of a piece of work, other than the costs of its requests. */
export type WorkDetails = Partial<
  Pick<Receipt, 'messageIds' | 'tools' | 'details' | 'missCause' | 'configured' | 'notes'>
>;

/** A budget of guild, channel or member is used up. The message says which, and until when. */
export class BudgetExceededError extends UserError {}

/**
 * For a caller with costly work before its first request; the request itself is refused in any case.
 * @throws BudgetExceededError
 */
export async function assertWithinBudgets(accounts: Pick<Accounts, 'check'> | undefined, actor: Actor): Promise<void> {
  const decision = await accounts?.check(actor);
  if (decision?.allowed === false) throw new BudgetExceededError(budgetRefusal(decision));
}

/** The usage of one request to a model. */
export interface ModelUse {
  readonly kind: 'completion' | 'embedding';
  readonly model: string;
  readonly provider: string;
  readonly mode?: LlmCompletion['mode'];
  readonly usage: Usage;
  /** `undefined` when it is not known. */
  readonly price: ModelPrice | undefined;
}

/** Called once for each answer that the provider charges for, also when the answer is unusable. */
export type OnUse = (use: ModelUse) => void;

/** Models without metering: the parameter of `meterLlm` for a plugin that provides `Llm`. */
export interface UnmeteredLlm extends Pick<Llm, 'traits' | 'render' | 'current'> {
  /** The obstacles to an answer of the model. Without this function, no obstacle is known. */
  findings?(request: Pick<LlmRequest, 'model' | 'fallbacks'>): Promise<readonly CheckResult[]>;
  complete(request: LlmRequest, onUse: OnUse): Promise<LlmCompletion>;
  /** The model for embeddings; `undefined` when there is none. */
  embeddingModel(model?: string): Promise<Pick<ModelUse, 'model' | 'price'> | undefined>;
  embed(texts: readonly string[], request: EmbedRequest, onUse: OnUse): Promise<Embeddings | undefined>;
}

export interface MeteringDependencies {
  /** Without accounts nothing is limited, and no receipts are kept. */
  readonly accounts: Pick<Accounts, 'check' | 'reserve' | 'record' | 'keepRequest'> | undefined;
  readonly clock: Clock;
  readonly random: Pick<Random, 'id'>;
}

/** The assumed maximum length of an answer when a request does not limit it. */
const ANSWER_TOKENS = 4_096;

/** `Llm` with metering: every request is admitted by the budgets, passed to the accounts, and its usage is recorded before its answer is returned. */
export function meterLlm(models: UnmeteredLlm, parts: MeteringDependencies): Llm {
  const metering = createMetering(parts);
  return {
    get current() {
      return models.current;
    },
    traits: models.traits,
    render: models.render,
    async complete({ charge, ...request }) {
      const traits = await models.traits(request.model).catch(() => undefined);
      const most = mostOf(estimatePromptTokens(request), request.maxTokens ?? ANSWER_TOKENS, traits?.price);
      const model = traits && { provider: traits.provider, model: traits.model };
      return metering.run(charge, most, (onUse) => models.complete(request, onUse), { model, request });
    },
    async embed(texts, request) {
      const route = await models.embeddingModel(request.model);
      if (route === undefined) return undefined;
      const most = mostOf(estimateTokens(texts), 0, route.price);
      return metering.run(request.charge, most, (onUse) => models.embed(texts, request, onUse));
    },
    finishWork: metering.finish,
    async findings(actor, request = {}) {
      const found = (await models.findings?.(request)) ?? [];
      const { price } = (await models.traits(request.model).catch(() => undefined)) ?? {};
      const budgets = await parts.accounts?.check(actor, undefined, mostOf(0, 0, price));
      return [...found, ...(budgets?.reasons ?? []).map(asCheckResult)];
    },
  };
}

/** A reason for or against something, as a diagnosis shows it. */
const asCheckResult = ({ allowed, text, remedy }: DecisionReason): CheckResult => ({ ok: allowed, text, remedy });

/**
 * How long an unfinished piece of work is remembered, after its last request: longer than a tool call between two requests may wait for a member. When it is
 * resumed, its receipt replaces the first one, including the costs.
 */
const UNFINISHED_MS = 24 * 60 * 60_000;

interface Work {
  readonly id: string;
  readonly charge: Charge;
  readonly admitted: Promise<Reservation | undefined>;
  readonly uses: ModelUse[];
  /** Number of requested completions. */
  asked: number;
  /** The last stored request; the next one waits for it, so that their order is kept. */
  kept: Promise<unknown>;
  details: WorkDetails;
  /** The last write; the next one waits for it, so that sums never decrease. */
  written: Promise<unknown>;
  until: number;
}

function createMetering({ accounts, clock, random }: MeteringDependencies) {
  const unfinished = new Map<string, Work>();

  const begin = (charge: Charge, most: Amount): Work => ({
    id: charge.work ?? random.id(),
    charge,
    admitted: Promise.resolve(accounts?.reserve(charge.actor, most)),
    uses: [],
    asked: 0,
    kept: Promise.resolve(),
    details: {},
    written: Promise.resolve(),
    until: clock.now() + UNFINISHED_MS,
  });

  const workFor = (charge: Charge, most: Amount): Work => {
    for (const [key, { until }] of unfinished) if (until <= clock.now()) unfinished.delete(key);
    if (charge.work === undefined) return begin(charge, most);
    const key = keyOf(charge);
    const work = unfinished.get(key) ?? begin(charge, most);
    work.until = clock.now() + UNFINISHED_MS;
    unfinished.set(key, work);
    return work;
  };

  const record = (work: Work): Promise<Receipt | undefined> => {
    const writing = work.written.then(async () => {
      const receipt = receiptOf(work, clock.now());
      if (receipt !== undefined) await accounts?.record(receipt);
      return receipt;
    });
    work.written = writing.catch(() => undefined);
    return writing;
  };

  const keep = (work: Work, sent: Pick<SentRequest, 'model' | 'request'>): Promise<unknown> => {
    const { id: receiptId, charge, asked: index } = work;
    const at = clock.now();
    work.asked += 1;
    work.kept = work.kept
      .then(() => accounts?.keepRequest({ receiptId, charge, index, at, ...sent }))
      .catch(() => undefined);
    return work.kept;
  };

  return {
    /**
     * @param sent the request to the model; absent for embeddings
     * @throws BudgetExceededError
     */
    async run<T>(
      charge: Charge,
      most: Amount,
      request: (onUse: OnUse) => Promise<T>,
      sent?: Pick<SentRequest, 'model' | 'request'>,
    ): Promise<T> {
      const work = workFor(charge, most);
      const reservation = await work.admitted;
      if (reservation?.decision.allowed === false) {
        unfinished.delete(keyOf(charge));
        throw new BudgetExceededError(budgetRefusal(reservation.decision));
      }
      const before = work.uses.length;
      const kept = sent === undefined ? undefined : keep(work, sent);
      try {
        return await request((use) => void work.uses.push(use));
      } finally {
        await kept;
        try {
          if (work.uses.length > before) await record(work);
        } finally {
          if (charge.work === undefined) await reservation?.release();
        }
      }
    },

    async finish(charge: WorkCharge, details: WorkDetails = {}): Promise<Receipt | undefined> {
      const work = unfinished.get(keyOf(charge));
      if (work === undefined) return undefined;
      unfinished.delete(keyOf(charge));
      work.details = details;
      return record(work).finally(async () => (await work.admitted)?.release());
    },
  };
}

const keyOf = ({ actor, responder, work = '' }: Charge) => `${actor.channelId} ${responder} ${work}`;

/** The receipt of a piece of work; `undefined` when no model has answered. */
function receiptOf({ id, charge, uses, details }: Work, at: number): Receipt | undefined {
  const completions = uses.filter(({ kind }) => kind === 'completion');
  const embeddings = uses.filter(({ kind }) => kind === 'embedding');
  const [first] = completions.length > 0 ? completions : embeddings;
  if (first === undefined) return undefined;
  const { model, provider, mode } = first;
  return {
    ...billFor(uses),
    id,
    at,
    mind: charge.responder,
    actor: charge.actor,
    messageIds: details.messageIds ?? [],
    trigger: charge.trigger,
    model,
    provider,
    mode,
    calls: completions.length > 0 ? completions.length : embeddings.length,
    tools: details.tools ?? [],
    details: [...(details.details ?? []), ...(completions.length > 0 ? embeddingDetails(embeddings) : [])],
    missCause: details.missCause,
    configured: details.configured,
    notes: details.notes,
  };
}

function embeddingDetails(embeddings: readonly ModelUse[]): readonly string[] {
  const [first] = embeddings;
  if (first === undefined) return [];
  const tokens = embeddings.reduce((sum, { usage }) => sum + tokensOf(usage), 0);
  return [t('Embeddings: {tokens} tokens by {model}', { tokens: formatCount(tokens), model: first.model })];
}

const BYTES_PER_TOKEN = 4;

/** The approximate number of tokens of a request's prompt, without images. */
export function estimatePromptTokens({ system = '', messages, tools = [] }: LlmRequest): number {
  const blocks = messages.flatMap(({ content }) => content);
  return estimateTokens([
    system,
    ...blocks.map((block) =>
      block.type === 'text' ? block.text : block.type === 'image' ? '' : JSON.stringify(block),
    ),
    ...tools.map((tool) => JSON.stringify(tool)),
  ]);
}

function estimateTokens(texts: readonly string[]): number {
  return Math.ceil(texts.reduce((sum, text) => sum + Buffer.byteLength(text), 0) / BYTES_PER_TOKEN);
}
