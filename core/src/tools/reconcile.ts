import type { Logger, SettledOutcome } from '@cinnabar/sdk';
import type { LiveCall } from './call.js';
import { failed } from './outcomes.js';

/**
 * Brings what an interceptor returned in line with the ledger, which has the last word: an outcome may be worded
 * differently, but a call that did not run cannot be made to look done, nor one that ran as if it had not.
 */
export async function reconcile(
  call: LiveCall,
  interceptor: string,
  outcome: SettledOutcome,
  log: Logger,
): Promise<SettledOutcome> {
  const state = call.row()?.state;
  if (state === undefined || state === 'executing') {
    const truth = await call.ended;
    if (truth.status !== outcome.status) return truth;
    // Worded differently, it still came from where it came from, and is for whom it is for.
    const { sources, audience } = truth.status === 'done' ? truth : {};
    return {
      ...outcome,
      callId: call.id,
      ...(sources === undefined ? {} : { sources }),
      ...(audience === undefined ? {} : { audience }),
    };
  }
  if (outcome.status !== 'done') return call.settle({ ...outcome, callId: call.id });
  log.error('an interceptor called a call done that never ran', { interceptor, callId: call.id });
  return call.settle(brokenInterceptor(call, interceptor));
}

export function brokenInterceptor(call: LiveCall, interceptor: string): SettledOutcome {
  const detail = `the check "${interceptor}" failed, so it was not run`;
  return failed(call.id, 'CINNABAR_TOOL_FAILED', { tool: call.tool.info.name, detail });
}
