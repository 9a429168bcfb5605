import { createSequences, type Interceptor, type Settings, type ToolCall, type ToolPolicies } from '@cinnabar/sdk';
import { type AskingParts, ask } from './asking/ask.js';
import { allowanceFor } from './session/allowance.js';
import type { Grants } from './session/grants.js';
import { type Rules, rulesIn, type settings } from './settings.js';
import { REASONS } from './waiting/expiry.js';

interface Parts extends AskingParts {
  readonly guildSettings: Settings<typeof settings>['guild'];
  readonly policies: ToolPolicies;
  readonly grants: Grants;
}

/** In one guild. Cards are cleaned up when their requester is heard of again; some never are, and must not fill the memory. */
const MOST_WAITING = 1000;

/** Holds calls until their requester has confirmed them. */
export function createInterceptor(parts: Parts): Interceptor {
  const cards = createSequences();
  return {
    name: 'confirm',
    order: 100,
    async handle(call, next) {
      const rules = await rulesIn(parts.guildSettings, (call.at ?? call.actor).guildId);
      if (!needsConfirmation(call, rules)) return next();
      const allowance = await allowanceFor(call, rules, parts.policies);
      const approval = await parts.grants.covering(call, allowance);
      await call.hold();
      if (approval !== undefined) {
        // On record as their decision: the host looks at their rights once more before it runs.
        await call.approve(approval.byUserId);
        parts.log.info('a call was let through by what was allowed for its task', {
          callId: call.id,
          session: call.session?.id,
          approval: approval.id,
        });
        return next();
      }
      await parts.expiry.expireOverdue(call.actor.userId);
      if (parts.signal.aborted) return { status: 'expired', callId: call.id, reason: REASONS.restarted };
      const oldest = parts.board.surplus(call.actor, MOST_WAITING);
      if (oldest !== undefined) await parts.expiry.expire(oldest, 'crowded');
      // Several calls of one answer come at once; their cards appear one after another.
      return cards.run(call.actor.channelId, () => ask(parts, { call, run: next, rules, allowance }));
    },
  };
}

/** The host and the guild decide this, never the call: no argument of a tool is looked at. */
function needsConfirmation({ policy, tool }: ToolCall, { require }: Rules): boolean {
  if (policy === 'allow') return false;
  return policy === 'confirm' || require.includes(tool.risk);
}
