import type { Interceptor, Settings, ToolCall } from '@cinnabar/sdk';
import { type AskingParts, ask } from './asking/ask.js';
import { createTurns } from './asking/turns.js';
import { type Rules, rulesIn, type settings } from './settings.js';
import { type Expiry, REASONS } from './waiting/expiry.js';

interface Parts extends AskingParts {
  readonly guildSettings: Settings<typeof settings>['guild'];
  readonly expiry: Expiry;
  readonly signal: AbortSignal;
}

/** Cards are cleaned up when their requester is heard of again; some never are, and must not fill the memory. */
const MOST_WAITING = 1000;

/** Holds calls until their requester has confirmed them. */
export function createInterceptor(parts: Parts): Interceptor {
  const inTurn = createTurns();
  return {
    name: 'confirm',
    order: 100,
    async handle(call, next) {
      const rules = await rulesIn(parts.guildSettings, call.actor.guildId);
      if (!needsConfirmation(call, rules)) return next();
      await call.hold();
      await parts.expiry.expireOverdue(call.actor.userId);
      if (parts.signal.aborted) return { status: 'expired', callId: call.id, reason: REASONS.stopped };
      const oldest = parts.board.surplus(MOST_WAITING);
      if (oldest !== undefined) await parts.expiry.expire(oldest, REASONS.crowded);
      // Several calls of one answer come at once; their cards appear one after another.
      return inTurn(call.actor.channelId, () => ask(parts, call, next, rules));
    },
  };
}

/** The host and the guild decide this, never the call: no argument of a tool is looked at. */
function needsConfirmation({ policy, tool }: ToolCall, { require }: Rules): boolean {
  if (policy === 'allow') return false;
  return policy === 'confirm' || require.includes(tool.risk);
}
