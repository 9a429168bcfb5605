import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { createTestHost, type TestHost } from '@cinnabar/core/testing';
import { type ModelStep, type StandIn, say, startAnthropicStandIn, startOpenAiStandIn } from '@cinnabar/local-models';
import { ToolPolicies } from '@cinnabar/sdk';
import { createShelf } from '../../plugins/chat/harness.js';

export const PROVIDERS = ['openai', 'anthropic'] as const;

/** A bot with a scripted model behind the real client of a provider. */
export interface ChatHarness extends AsyncDisposable {
  readonly host: TestHost;
  readonly model: StandIn;
  /** Sets the model's next steps; unused earlier steps are dropped. */
  script(steps: readonly ModelStep[]): void;
  /** Advances the clock until all work that waits for it is done. */
  run(): Promise<void>;
}

const STEP_MS = 1_000;
/** Real time for each second of the clock: enough for a request and its response on this machine. */
const REAL_MS = 4;
/** More than the sum of all time limits. */
const MOST_STEPS = 600;

export async function openChatHarness(provider: (typeof PROVIDERS)[number], streaming: boolean): Promise<ChatHarness> {
  let steps: readonly ModelStep[] = [];
  const script = () => {
    const [next, ...others] = steps;
    steps = others;
    return next ?? say('There is nothing more in the script.');
  };
  const model = await (provider === 'openai' ? startOpenAiStandIn : startAnthropicStandIn)({ script });
  const configDir = await mkdtemp(join(tmpdir(), 'cinnabar-chat-campaign-'));
  await writeFile(
    join(configDir, 'shared.yaml'),
    `llmRetries: 1\nllmTimeoutMs: 20000\nmaxQueuedReplies: 50\nstreaming: ${streaming}\n`,
  );
  const base = provider === 'openai' ? 'OPENAI' : 'ANTHROPIC';
  const host = await createTestHost({
    plugins: ['ai', 'chat', 'llm', createShelf().plugin],
    settings: { llm: { provider, retryDelayMs: 10 }, ai: {} },
    env: { [`${base}_BASE_URL`]: model.baseUrl, [`${base}_API_KEY`]: 'sk-campaign' },
    configDir,
  });
  await host.resolve(ToolPolicies).set(host.guild.id, 'look', 'allow');

  return {
    host,
    model,
    script(next) {
      steps = next;
    },
    async run() {
      let isOver = false;
      const settled = host.settled().then(() => {
        isOver = true;
      });
      for (let taken = 0; !isOver; taken += 1) {
        if (taken === MOST_STEPS) throw new Error('The bot is still busy.');
        const until = performance.now() + REAL_MS;
        do await setImmediate();
        while (!isOver && performance.now() < until);
        if (!isOver) host.clock.advance(STEP_MS);
      }
      await settled;
    },
    async [Symbol.asyncDispose]() {
      await host[Symbol.asyncDispose]();
      await model[Symbol.asyncDispose]();
      await rm(configDir, { recursive: true, force: true });
    },
  };
}
