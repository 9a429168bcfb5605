import type { LocalMessage, LocalUser } from '@cinnabar/local-discord';
import { type CallState, type SettledOutcome, withoutNoticeMark } from '@cinnabar/sdk';
import type { ManualClock } from '@cinnabar/sdk/testing';

const ENDS: readonly CallState[] = ['done', 'failed', 'denied', 'expired', 'unknown'];
export const hasEnded = (state: CallState): boolean => ENDS.includes(state);

export const TIME_LIMIT_MS = 60_000;

/** A requested call, and the events around it. */
export interface Asked {
  readonly callId: string;
  readonly requester: LocalUser;
  readonly card: LocalMessage;
  readonly at: number;
  /** Number of restarts and reloads of `confirm`: a card of an earlier epoch can never be decided. */
  readonly epoch: number;
  outcome?: SettledOutcome;
  deletedAt?: number;
  /** The requester's first 👍 or 👎, which decides. */
  first?: { readonly approved: boolean; readonly at: number };
  runs: number;
}

/** Records effects, and reports violations. */
export function createWitness(clock: ManualClock) {
  const calls = new Map<string, Asked>();
  const violations: string[] = [];
  let epoch = 0;

  return {
    calls,
    violations,
    epoch: () => epoch,
    nextEpoch() {
      epoch += 1;
    },
    /** Called by the effect. */
    ran(callId: string) {
      const call = calls.get(callId);
      if (call === undefined) {
        violations.push(`${callId} ran before it was asked for`);
        return;
      }
      call.runs += 1;
      const { first, at } = call;
      if (call.runs > 1) violations.push(`${callId} ran ${call.runs} times`);
      if (first === undefined) violations.push(`${callId} ran, and its requester had decided nothing`);
      else if (!first.approved) violations.push(`${callId} ran after 👎`);
      else if (first.at > at + TIME_LIMIT_MS) violations.push(`${callId} ran after it had expired`);
      if (call.epoch !== epoch) violations.push(`${callId} ran after a restart or reload`);
    },
    /** Records a reaction. @returns `true` for the requester's first decision */
    react(call: Asked, by: LocalUser, emoji: string): boolean {
      const decides = by === call.requester && (emoji === '👍' || emoji === '👎');
      if (!decides || call.first !== undefined) return false;
      call.first = { approved: emoji === '👍', at: clock.now() };
      return true;
    },
    /** Checks a decision without other activity: a timely 👍 must have run the call, so that a campaign without any run is a failure. */
    judgeAlone(call: Asked) {
      const { callId, runs, at, first } = call;
      const inTime = first !== undefined && first.at <= at + TIME_LIMIT_MS;
      if (call.epoch === epoch && inTime && first.approved && runs === 0)
        violations.push(`${callId} had its 👍 and did not run`);
    },
    /** Checks a call at the end of its scene. */
    close(call: Asked, state: CallState | undefined, crashed: boolean) {
      const { callId, runs, outcome, card, deletedAt } = call;
      const ended = `is ${state ?? 'not in the ledger'}`;
      const struck = /\n(?:⏱️ Request timed out|🔁 Not run: .*|🛑 Cancelled: it was not run\.)$/.test(
        withoutNoticeMark(card.content),
      );
      const sameRun = call.epoch === epoch;
      const wrong: readonly (readonly [boolean, string])[] = [
        [state === undefined || !hasEnded(state), `${ended} at the end`],
        [runs === 0 && state === 'done', 'is done without having run'],
        [runs > 0 && state !== 'done' && !(crashed && state === 'unknown'), `ran, and ${ended}`],
        [state === 'unknown' && !crashed, 'is unknown, although nothing crashed'],
        [sameRun && outcome === undefined, 'never told its outcome'],
        [sameRun && outcome !== undefined && outcome.status !== state, `told ${outcome?.status}, and ${ended}`],
        [state === 'expired' && deletedAt === undefined && !struck, 'expired, but its card does not say so'],
        [state === 'done' && struck, 'is done, but its card says that it was not run'],
      ];
      for (const [holds, what] of wrong) if (holds) violations.push(`${callId} ${what}`);
    },
  };
}
export type Witness = ReturnType<typeof createWitness>;
