import type { Clock, Logger } from '@cinnabar/sdk';
import type { LettaStore } from './collections.js';

/** A batch that is told again after this long is a new one to everybody. */
const KEPT_MS = 24 * 60 * 60_000;

const PRUNED_EVERY_MS = 60 * 60_000;

/** Forgets prompts that nobody is going to tell again, once an hour at most. Never throws. */
export function createPruning({ lettaSent }: LettaStore, clock: Clock, log: Logger): () => Promise<void> {
  let prunedAt = Number.NEGATIVE_INFINITY;
  return async () => {
    const now = clock.now();
    if (now - prunedAt < PRUNED_EVERY_MS) return;
    prunedAt = now;
    try {
      for await (const [key, { at }] of lettaSent.entries()) if (at < now - KEPT_MS) await lettaSent.of(key).delete();
    } catch (error) {
      log.warn('what was told to agents could not be pruned', { error });
    }
  };
}

/** What is kept of one person's prompts. */
export async function keptOf({ lettaSent, lettaAsked }: LettaStore, userId: string): Promise<readonly unknown[]> {
  const kept: unknown[] = [];
  for await (const [, sent] of lettaSent.entries()) if (sent.place.userId === userId) kept.push(sent);
  for await (const [, asked] of lettaAsked.entries()) if (asked.place.userId === userId) kept.push(asked);
  return kept;
}

/**
 * Forgets what agents have said to a person. That something was sent stays, without them, and so does what an agent waits for: it has to be
 * answered.
 */
export async function forgetKept({ lettaSent, lettaAsked }: LettaStore, userId: string): Promise<void> {
  const isTheirs = (kept: { readonly place: { readonly userId: string | null } }) => kept.place.userId === userId;
  for await (const [key, sent] of lettaSent.entries()) {
    if (!isTheirs(sent)) continue;
    const outcome = sent.outcome?.status === 'done' ? { ...sent.outcome, texts: [] } : sent.outcome;
    await lettaSent
      .of(key)
      .set({ ...sent, place: { ...sent.place, userId: null }, ...(outcome === undefined ? {} : { outcome }) });
  }
  for await (const [callId, asked] of lettaAsked.entries()) {
    if (isTheirs(asked))
      await lettaAsked.of(callId).set({ ...asked, input: '{}', place: { ...asked.place, userId: null } });
  }
}
