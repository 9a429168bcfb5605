import { CinnabarError, type ToolCall } from '@cinnabar/sdk';
import type { LiveCall } from './call.js';
import type { RegisteredInterceptor } from './interceptors.js';

/** Ends calls that nobody can decide any more. */
export async function expireHeld({ interceptor }: RegisteredInterceptor, calls: Iterable<LiveCall>): Promise<void> {
  const reason = `"${interceptor.name}" was stopped before this was decided, so it was not run`;
  await Promise.all([...calls].map((call) => call.settle({ status: 'expired', callId: call.id, reason })));
}

/** A call as one interceptor sees it. Every step is a compare and swap in the ledger, written before it resolves. */
export function viewFor(by: RegisteredInterceptor, call: LiveCall): ToolCall {
  const { id, trail } = call;
  return {
    id,
    tool: call.tool.info,
    input: call.input,
    argumentsHash: call.argumentsHash,
    actor: call.actor,
    at: call.at,
    origin: call.origin,
    session: call.session,
    step: call.step,
    messageId: call.messageId,
    signal: call.signal,
    card: call.card,
    policy: call.policy,
    reading: call.reading,
    async hold() {
      if (!(await call.move(['proposed'], 'pending'))) {
        throw new CinnabarError('CINNABAR_TOOL_STATE', { call: id, state: call.row()?.state ?? 'over' });
      }
      trail.note({ heldBy: by.interceptor.name });
      by.held.add(call);
      void call.ended.then(() => by.held.delete(call));
      // Taken back while this was written: what is held by now was not among what it gave up then.
      if (by.gone()) await expireHeld(by, [call]);
    },
    keepPrivate() {
      call.keptPrivate = true;
    },
    async approve(decidedBy, share) {
      const first = await call.move(['pending'], 'approved', { decidedBy, ...(share === undefined ? {} : { share }) });
      if (first) trail.note({ decidedBy });
      return first;
    },
    async deny(decidedBy, reason) {
      const first = await call.end(['pending'], { status: 'denied', callId: id, reason }, { decidedBy });
      if (first) trail.note({ decidedBy });
      return first;
    },
    expire: (reason) => call.end(['pending'], { status: 'expired', callId: id, reason }),
  };
}
