import { appendFileSync } from 'node:fs';
import { setTimeout as wait } from 'node:timers/promises';
import {
  Accounts,
  CinnabarError,
  Clock,
  definePlugin,
  Llm,
  type LlmCompletion,
  type LlmRequest,
  meterLlm,
  optional,
  type Plugin,
  Random,
  type UnmeteredLlm,
  z,
} from '@cinnabar/sdk';

interface Answer {
  readonly text?: string;
  readonly calls?: readonly { readonly name: string; readonly input: Readonly<Record<string, unknown>> }[];
}
const call = (name: string, input: Readonly<Record<string, unknown>>, text?: string): Answer => ({
  calls: [{ name, input }],
  ...(text === undefined ? {} : { text }),
});

export const QUESTION = 'Which shelf shall I tidy?';
export const CHOICE = 'Shelf B';
export const DENIED = 'a note that is denied';
export const APPROVED = 'a note that is approved';

/** The model's answers, by step. */
export const SCRIPT: readonly Answer[] = [
  { text: 'I will look at the shelves first.' },
  call('look', { what: 'shelf A' }),
  call('stamp', { what: 'shelf A' }, 'Shelf A gets its stamp.'),
  call('send_update', { message: 'Shelf A is seen and stamped.' }),
  call('ask_user', { question: QUESTION, choices: ['Shelf A', CHOICE] }),
  {
    calls: [
      { name: 'look', input: { what: 'shelf B' } },
      { name: 'stamp', input: { what: 'shelf B' } },
    ],
  },
  call('send_note', { what: DENIED }),
  { text: 'I understand, no such note.' },
  call('ring', { what: 'the bell' }),
  call('send_note', { what: APPROVED }),
  call('stamp', { what: 'the door' }),
  call('task_complete', { summary: 'Everything is tidy.' }),
];

/** A model that derives the current step from the conversation, so that it continues after a restart. */
export function scriptedModel(delayMs: number, onRequest: () => void = () => undefined): Plugin {
  const models: UnmeteredLlm = {
    current: { provider: 'campaign', model: 'campaign' },
    async complete(request, onUse) {
      onRequest();
      if (delayMs > 0) await wait(delayMs, undefined, { signal: request.signal }).catch(() => undefined);
      if (request.signal?.aborted === true) throw new CinnabarError('CINNABAR_LLM_CANCELLED');
      const completion = completionOf(request);
      onUse({ kind: 'completion', price: undefined, ...completion });
      return completion;
    },
    embeddingModel: async () => undefined,
    embed: async () => undefined,
    traits: async (model = 'campaign') => ({
      provider: 'campaign',
      model,
      modes: ['chat'],
      images: false,
      contextTokens: 100_000,
      cache: { kind: 'none', breakpoints: 0, minTokens: 0, ttls: [], lookBackBlocks: 0 },
      price: undefined,
    }),
    render: async () => ({ provider: 'campaign', model: 'campaign', mode: 'chat', body: {} }),
  };
  return definePlugin({
    manifest: { id: 'campaign-llm', version: '1.0.0', description: 'A language model that follows a script' },
    provides: [Llm],
    inject: { accounts: optional(Accounts), clock: Clock, random: Random },
    setup: ({ provide, services }) => void provide(Llm, meterLlm(models, services)),
  });
}

function completionOf({ messages, self }: LlmRequest): LlmCompletion {
  const said = messages.filter(
    ({ participant, content }) => participant === self && content.some(({ type }) => type !== 'tool_result'),
  );
  const { text, calls = [] } = SCRIPT[said.length] ?? {};
  return {
    content: [
      ...(text === undefined ? [] : [{ type: 'text' as const, text }]),
      ...calls.map(({ name, input }, index) => ({
        type: 'tool_use' as const,
        id: `call_${said.length}_${index}`,
        name,
        input,
      })),
    ],
    stopReason: calls.length > 0 ? 'tool_use' : 'end_turn',
    usage: { inputTokens: 10, outputTokens: 5 },
    model: 'campaign',
    provider: 'campaign',
    mode: 'chat',
  };
}

/** An effect, as recorded outside of the process. */
export interface Effect {
  readonly tool: string;
  readonly what: string;
  readonly key: string;
}

const WHAT = z.object({ what: z.string() });

/** Tools whose effects are lines in a file that survives the process. */
export function effectTools(file: string, delayMs: number): Plugin {
  return definePlugin({
    manifest: { id: 'effects', version: '1.0.0', description: 'Has effects that are counted' },
    setup({ tool }) {
      const add = (name: string, risk: 'read' | 'write', idempotent: boolean, policy: 'allow' | undefined) =>
        tool({
          name,
          description: name,
          input: WHAT,
          risk,
          idempotent,
          ...(policy === undefined ? {} : { policy }),
          async run({ what }, { key }) {
            if (delayMs > 0) await wait(delayMs);
            appendFileSync(file, `${JSON.stringify({ tool: name, what, key } satisfies Effect)}\n`);
            if (delayMs > 0) await wait(delayMs);
            return `${name}: ${what}`;
          },
        });
      add('look', 'read', true, 'allow');
      add('stamp', 'write', false, 'allow');
      add('ring', 'write', true, 'allow');
      add('send_note', 'write', false, undefined);
    },
  });
}
