import {
  Accounts,
  CinnabarError,
  Clock,
  type ContentBlock,
  definePlugin,
  Llm,
  type LlmCompletion,
  type LlmRequest,
  type ModelTraits,
  meterLlm,
  type OnUse,
  optional,
  type Plugin,
  Random,
  type UnmeteredLlm,
  type Usage,
} from '@cinnabar/sdk';
import { z } from 'zod';
import { tokensIn } from './embedding.js';
import { createHeld } from './held.js';
import {
  createStepQueue,
  type FailStep,
  type ModelScript,
  type ModelStep,
  type PromptView,
  type ReplyStep,
  type ScriptedCall,
} from './steps.js';
import { pieces, rawArguments, readJson } from './wire.js';

const TRAITS: Omit<ModelTraits, 'model'> = {
  provider: 'scripted',
  modes: ['chat', 'prefill'],
  images: true,
  contextTokens: 200_000,
  cache: { kind: 'explicit', breakpoints: 4, minTokens: 1024, ttls: ['5m', '1h'], lookBackBlocks: 20 },
  price: { input: 3, output: 15, cacheRead: 0.3, cacheWrite5m: 3.75, cacheWrite1h: 6 },
};

/** A plugin that provides `Llm` from a script, without HTTP or configuration. */
export interface ScriptedLlm extends Plugin {
  /** Every request so far, as the caller made it. */
  readonly requests: readonly LlmRequest[];
  /** The texts of every request for embeddings so far. */
  readonly embedded: readonly (readonly string[])[];
  push(...steps: readonly ModelStep[]): void;
  /** Resolves as soon as a response hangs. */
  hanging(): Promise<void>;
  /** Resumes all hanging responses. */
  release(): void;
}

/** The abilities of the scripted model. */
export interface ScriptedEmbeddings {
  /** Computes the vector of a text, like `wordVector`; without it, the model has no embeddings. */
  readonly embed?: (text: string) => readonly number[];
  /** Default: `chat` and `prefill`. */
  readonly modes?: ModelTraits['modes'];
}

/** A request, its number, and the function that reports its usage. */
interface Asked {
  readonly request: LlmRequest;
  readonly serial: number;
  readonly onUse: OnUse;
}

/**
 * A model for the tests of plugins that inject `Llm`.
 * @example
 * const llm = scriptedLlm([callTool('roll', { sides: 6 }), say('A four.')]);
 * await using host = await createTestHost({ plugins: [llm, myPlugin] });
 */
export function scriptedLlm(
  steps: readonly ModelStep[] | ModelScript = [],
  { embed, modes = TRAITS.modes }: ScriptedEmbeddings = {},
): ScriptedLlm {
  const requests: LlmRequest[] = [];
  const embedded: (readonly string[])[] = [];
  const queue = createStepQueue(typeof steps === 'function' ? { script: steps } : { steps });
  const held = createHeld();

  const carryOut = async (asked: Asked, step: ModelStep, isRestart = false): Promise<LlmCompletion> => {
    const { request, serial, onUse } = asked;
    if (request.signal?.aborted === true) throw new CinnabarError('CINNABAR_LLM_CANCELLED');
    if (step.kind === 'fail') throw failure(step);
    if (step.kind === 'reply' && step.midway === undefined) {
      tell(request, written(step), isRestart);
      const { provider } = TRAITS;
      const mode = request.mode ?? 'chat';
      onUse({ kind: 'completion', model: 'scripted', provider, mode, usage: usageOf(step), price: TRAITS.price });
      return toCompletion(request, step, serial);
    }
    if (step.kind === 'reply' && step.midway !== 'hang') throw new CinnabarError('CINNABAR_LLM_UNAVAILABLE');
    if (step.kind === 'reply') {
      const all = written(step);
      tell(request, all.slice(0, Math.ceil(all.length / 2)));
    }
    await held.hold((gone) => onAbort(request.signal, gone));
    if (step.kind === 'hang') return carryOut(asked, step.then);
    return carryOut(asked, { ...step, midway: undefined }, true);
  };

  const models: UnmeteredLlm = {
    current: { provider: 'scripted', model: 'scripted' },
    async complete(request, onUse) {
      requests.push(request);
      const serial = requests.length;
      const step = await queue.next(promptOf(request));
      if (step === undefined) {
        throw new CinnabarError('CINNABAR_LLM_REFUSED', { detail: 'the scripted model has no step left' });
      }
      return carryOut({ request, serial, onUse }, step);
    },
    embeddingModel: async (model = 'scripted-embeddings') =>
      embed === undefined ? undefined : { model, price: TRAITS.price },
    async embed(texts, { model = 'scripted-embeddings', signal }, onUse) {
      if (embed === undefined) return undefined;
      if (signal?.aborted === true) throw new CinnabarError('CINNABAR_LLM_CANCELLED');
      embedded.push(texts);
      const tokens = tokensIn(texts);
      const usage = { inputTokens: tokens, outputTokens: 0 };
      onUse({ kind: 'embedding', model, provider: TRAITS.provider, usage, price: TRAITS.price });
      return { vectors: texts.map((text) => Float32Array.from(embed(text))), model, tokens };
    },
    traits: async (model = 'scripted') => ({ ...TRAITS, modes, model }),
    render: async (request) => ({
      provider: 'scripted',
      model: request.model ?? 'scripted',
      mode: request.mode ?? 'chat',
      body: request,
    }),
  };
  const plugin = definePlugin({
    manifest: { id: 'scripted-llm', version: '1.0.0', description: 'A language model that follows a script' },
    provides: [Llm],
    inject: { accounts: optional(Accounts), clock: Clock, random: Random },
    setup: ({ provide, services }) => void provide(Llm, meterLlm(models, services)),
  });
  return {
    ...plugin,
    requests,
    embedded,
    push: queue.push,
    hanging: held.hanging,
    release: held.release,
  };
}

function written({ text }: ReplyStep): readonly string[] {
  return text === undefined || text === '' ? [] : pieces(text);
}

/** @param isRestart whether text of an earlier attempt was delivered */
function tell({ onText }: LlmRequest, all: readonly string[], isRestart = false): void {
  for (const [index, piece] of all.entries()) onText?.(piece, isRestart && index === 0);
}

function failure({ status, message }: FailStep): CinnabarError {
  if (status === 429) return new CinnabarError('CINNABAR_LLM_RATE_LIMITED');
  if (status >= 500) return new CinnabarError('CINNABAR_LLM_UNAVAILABLE');
  return new CinnabarError('CINNABAR_LLM_REFUSED', { detail: message ?? `scripted error ${status}` });
}

/** Calls back on abort. @returns a function that stops it */
function onAbort(signal: AbortSignal | undefined, callback: () => void): () => void {
  signal?.addEventListener('abort', callback);
  return () => signal?.removeEventListener('abort', callback);
}

const OBJECT = z.record(z.string(), z.unknown());

/** The content of a normalised request, for scripts. */
function promptOf(request: LlmRequest): PromptView {
  const spoken = request.messages.filter(
    (message) => textOf(message.content) !== '' && message.participant !== request.self,
  );
  const last = request.messages.findLast((message) => !message.content.every(isEmptyText));
  return {
    model: request.model ?? 'scripted',
    system: request.system ?? '',
    text: textOf(spoken.at(-1)?.content ?? []),
    tools: (request.tools ?? []).map((tool) => tool.name),
    results: (last?.content ?? []).flatMap((block) =>
      block.type === 'tool_result' ? [typeof block.content === 'string' ? block.content : textOf(block.content)] : [],
    ),
  };
}

/** A scripted reply as a completion, with `structured` validated as a provider would. */
function toCompletion(request: LlmRequest, step: ReplyStep, serial: number): LlmCompletion {
  const calls = (step.calls ?? []).map((call, index) => toContent(call, `call_${serial}_${index}`));
  const text = step.text === undefined ? [] : [{ type: 'text' as const, text: step.text }];
  return {
    content: [...text, ...calls],
    stopReason: step.stop ?? (calls.length > 0 ? 'tool_use' : 'end_turn'),
    usage: usageOf(step),
    model: 'scripted',
    provider: 'scripted',
    mode: request.mode ?? 'chat',
    ...(request.output === undefined ? {} : { structured: structured(request.output.schema, step.text ?? '') }),
  };
}

function usageOf({ usage = { inputTokens: 10, outputTokens: 5 } }: ReplyStep): Usage {
  const cached = (usage.cacheReadTokens ?? 0) + (usage.cacheCreationTokens ?? 0);
  return { ...usage, inputTokens: usage.inputTokens - cached };
}

function toContent(call: ScriptedCall, madeUpId: string): LlmCompletion['content'][number] {
  const id = call.id ?? madeUpId;
  const raw = rawArguments(call);
  const input = OBJECT.safeParse(readJson(raw));
  return input.success
    ? { type: 'tool_use', id, name: call.name, input: input.data }
    : { type: 'malformed_tool_use', id, name: call.name, raw, reason: 'the arguments are not a JSON object' };
}

function structured(schema: z.ZodObject, text: string): unknown {
  const parsed = schema.safeParse(readJson(text));
  if (!parsed.success) throw new CinnabarError('CINNABAR_LLM_MALFORMED', { detail: z.prettifyError(parsed.error) });
  return parsed.data;
}

function textOf(content: readonly ContentBlock[]): string {
  return content.flatMap((block) => (block.type === 'text' ? [block.text] : [])).join('\n');
}

function isEmptyText(block: ContentBlock): boolean {
  return block.type === 'text' && block.text.trim() === '';
}
