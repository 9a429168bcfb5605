import type { CallState } from '@cinnabar/sdk';

/**
 * Where a call can go from each state. Running needs `executing`, which nothing leads back to: that is why a call runs
 * at most once. A state that leads nowhere is final.
 */
export const TRANSITIONS: Readonly<Record<CallState, readonly CallState[]>> = {
  proposed: ['pending', 'executing', 'denied', 'expired', 'failed'],
  pending: ['approved', 'denied', 'expired', 'failed'],
  approved: ['executing', 'denied', 'expired', 'failed'],
  executing: ['done', 'failed', 'unknown'],
  done: [],
  failed: [],
  denied: [],
  expired: [],
  unknown: [],
};

export const isFinal = (state: CallState): boolean => TRANSITIONS[state].length === 0;

export const mayFollow = (from: CallState, to: CallState): boolean => TRANSITIONS[from].includes(to);

/** What a call becomes whose process ended: before it ran it has expired; while it ran, nobody knows. */
export function afterRestart(state: CallState): CallState {
  if (isFinal(state)) return state;
  return state === 'executing' ? 'unknown' : 'expired';
}
