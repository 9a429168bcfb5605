import { tokensOf } from '@cinnabar/sdk';
import { isWorking } from '../model/status.js';
import type { Task } from '../model/task.js';
import type { Rules } from '../settings.js';

type Spent = Pick<Task, 'stepCount' | 'workedMs' | 'usage' | 'cost' | 'status' | 'changedAt' | 'continuedFrom'>;

const MINUTE_MS = 60_000;

/** Which limit a task has reached, in words for people; `undefined` while it has room. */
export function limitReached(task: Spent, rules: Rules, now: number): string | undefined {
  const { stepCount, workedMs, status, changedAt, continuedFrom: from } = task;
  const worked = workedMs + (isWorking(status) ? now - changedAt : 0) - (from?.workedMs ?? 0);
  if (stepCount - (from?.steps ?? 0) >= rules.maxSteps)
    return 'I have reached the maximum number of steps. Stopping here.';
  if (worked >= rules.maxMinutes * MINUTE_MS) {
    return `I have worked on this for ${rules.maxMinutes} minutes, which is the most I may. Stopping here.`;
  }
  const { tokens, cost } = spentSince(task);
  if (tokens >= rules.maxTokens) {
    return `I have used ${tokens.toLocaleString('en-US')} tokens, and ${rules.maxTokens.toLocaleString('en-US')} is the most I may. Stopping here.`;
  }
  if (cost !== null && cost >= rules.maxUsd) {
    return `This has cost $${cost.toFixed(2)}, and $${rules.maxUsd.toFixed(2)} is the most it may. Stopping here.`;
  }
  return undefined;
}

/** Since it was last continued. */
function spentSince({ usage, cost, continuedFrom: from }: Pick<Task, 'usage' | 'cost' | 'continuedFrom'>) {
  return { tokens: tokensOf(usage) - (from?.tokens ?? 0), cost: cost === null ? null : cost - (from?.cost ?? 0) };
}

/** A warning before a task runs out of tokens or money. */
export function warningOf(task: Pick<Task, 'usage' | 'cost' | 'continuedFrom'>, rules: Rules): string | undefined {
  const { tokens, cost } = spentSince(task);
  if (tokens >= rules.maxTokens * rules.warnAt) {
    return `⚠️ I have used ${tokens.toLocaleString('en-US')} of at most ${rules.maxTokens.toLocaleString('en-US')} tokens.`;
  }
  if (cost !== null && rules.maxUsd > 0 && cost >= rules.maxUsd * rules.warnAt) {
    return `⚠️ This has cost $${cost.toFixed(2)} of at most $${rules.maxUsd.toFixed(2)}.`;
  }
  return undefined;
}
