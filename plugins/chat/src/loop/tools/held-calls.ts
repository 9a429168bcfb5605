import { type Collection, FOR_REQUESTER_ALONE, type LedgerEntry, z } from '@cinnabar/sdk';

const call = z.object({
  callId: z.string(),
  tool: z.string(),
  input: z.record(z.string(), z.unknown()),
  /** Who asked for it. */
  userId: z.string(),
  /** The message after which it was made: its place in the history. */
  afterId: z.string(),
  /** Calls of one step of the model share it. */
  step: z.string(),
});
export type HeldCall = z.output<typeof call>;

const MAX_CALLS = 100;

/** Calls that were held for a decision: on later turns the model sees what became of them. */
export const heldCalls = {
  scope: 'channel',
  version: 1,
  schema: z.object({ calls: z.array(call).default([]) }),
} as const;
export type CallStore = Collection<{ calls: HeldCall[] }, 'channel'>;

export async function rememberCall(store: CallStore, channelId: string, held: HeldCall): Promise<void> {
  await store.of(channelId).update((draft) => {
    draft.calls = [...draft.calls, held].slice(-MAX_CALLS);
  });
}

/** The channel's held calls. Those for which `isPast` holds are forgotten. */
export async function recallCalls(
  store: CallStore,
  channelId: string,
  isPast: (held: HeldCall) => boolean,
): Promise<readonly HeldCall[]> {
  const { calls } = (await store.of(channelId).find()) ?? { calls: [] };
  if (!calls.some(isPast)) return calls;
  const kept = await store.of(channelId).update((draft) => {
    draft.calls = draft.calls.filter((held) => !isPast(held));
  });
  return kept.calls;
}

/** What the model is told of a call that was held. */
export function outcomeOf(entry: LedgerEntry | undefined): { readonly text: string; readonly isError: boolean } {
  const because = entry?.reason === undefined ? '' : ` (${entry.reason})`;
  switch (entry?.state) {
    case 'proposed':
    case 'pending':
      return told(
        'Not run yet: it still waits for the confirmation of the member who asked. Do not say that it has run.',
      );
    case 'approved':
    case 'executing':
      return told('Confirmed, and running now: there is no result yet.');
    case 'done':
      return told(entry.audience === 'requester' ? FOR_REQUESTER_ALONE : `done: ${entry.text ?? 'it ran'}`);
    case 'denied':
      return told(`Cancelled by the member: it did not run${because}.`, true);
    case 'expired':
      return told(`It did not run${because}.`, true);
    case 'failed':
      return told(`Confirmed, but it failed${because}.`, true);
    default:
      return told('It is not known whether it ran. Say so if it matters; do not claim either.', true);
  }
}

function told(text: string, isError = false) {
  return { text, isError };
}

/** For `personalData`: the calls that a member asked for, over all channels. */
export async function exportCalls(store: CallStore, userId: string): Promise<unknown> {
  const found: Record<string, readonly HeldCall[]> = {};
  for await (const [channelId, { calls }] of store.entries()) {
    const theirs = calls.filter((held) => held.userId === userId);
    if (theirs.length > 0) found[channelId] = theirs;
  }
  return found;
}

export async function forgetCalls(store: CallStore, userId: string): Promise<void> {
  for await (const [channelId, { calls }] of store.entries()) {
    if (!calls.some((held) => held.userId === userId)) continue;
    await store.of(channelId).update((draft) => {
      draft.calls = draft.calls.filter((held) => held.userId !== userId);
    });
  }
}
