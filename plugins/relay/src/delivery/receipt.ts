import type { Accounts, Clock } from '@cinnabar/sdk';
import { PLUGIN } from '../agents/grants.js';
import type { Target } from '../agents/target.js';
import type { Budget } from '../budget.js';
import type { Answered } from '../letta/runs/prompt-context.js';
import type { Batch, EventKind } from '../types.js';

export interface ReceiptParts {
  readonly accounts: Accounts | undefined;
  readonly budget: Budget;
  readonly clock: Clock;
}

interface Telling {
  readonly target: Target;
  readonly batch: Batch;
  readonly key: string;
  readonly end: Answered;
  /** What was posted. */
  readonly messageIds: readonly string[];
}

/** Counts what it took for the budgets, and keeps it for `!why` and `!cost`. */
export async function recordTelling(
  { target, batch, key, end, messageIds }: Telling,
  parts: ReceiptParts,
): Promise<void> {
  const { accounts, budget, clock } = parts;
  const { guildId, channelId, kind } = batch[0];
  await budget.spend(guildId, end.tokens);
  if (target.userId === undefined) return;
  await accounts?.record({
    id: key,
    at: clock.now(),
    mind: PLUGIN,
    actor: { userId: target.userId, guildId, channelId },
    messageIds,
    trigger: batch.length === 1 ? WHY[kind] : `${batch.length} messages waited for me`,
    model: target.name,
    provider: 'letta',
    // The server tells the sum only, and no price.
    usage: {
      inputTokens: end.tokens,
      outputTokens: 0,
      cacheCreationTokens: 0,
      cacheReadTokens: 0,
      cacheCreation1hTokens: 0,
    },
    calls: end.steps,
    cost: null,
    tools: end.tools.map(({ name, ok }) => ({ name, outcome: ok === false ? 'failed' : 'done' })),
    details: [`Agent: ${target.name}, at the Letta server; ended with ${end.stopReason}`],
    notes: ['The Letta server tells only the sum of all tokens: they are counted as input.'],
  });
}

const WHY: Readonly<Record<EventKind, string>> = {
  mention: 'I was mentioned',
  reply: 'I was replied to',
  dm: 'I was written to',
  thread: 'Somebody wrote in a thread that I had started',
  message: 'Every message of this channel reaches me',
  reaction: 'Somebody reacted to a message of mine',
  digest: 'A digest was due',
  wake: 'A wake-up was planned',
};
