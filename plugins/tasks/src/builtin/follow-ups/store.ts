import { type Actor, type Collection, UserError, z } from '@cinnabar/sdk';

const followUp = z.object({
  id: z.string(),
  goal: z.string(),
  guildId: z.string().nullable(),
  channelId: z.string(),
  /** Milliseconds since 1970. */
  dueAt: z.number(),
  /** Its task is being started; after a crash in between nobody knows yet whether it was. */
  starting: z.boolean().default(false),
});

/** What a member has planned for later: one document each, so that export and deletion cover it. */
export const followUpsCollection = {
  scope: 'user',
  version: 1,
  schema: z.object({ planned: z.array(followUp).default([]) }),
} as const;

export type FollowUp = z.output<typeof followUp>;
export type FollowUpStore = Collection<z.output<typeof followUpsCollection.schema>, 'user'>;

const MOST_PER_MEMBER = 10;

/** @throws UserError when there are too many already */
export async function planFollowUp(store: FollowUpStore, actor: Actor, planned: FollowUp): Promise<void> {
  await store.of(actor.userId).update((draft) => {
    if (draft.planned.length >= MOST_PER_MEMBER) {
      throw new UserError(`You have ${MOST_PER_MEMBER} follow-ups planned already; cancel one, or wait for one.`);
    }
    draft.planned.push(planned);
  });
}

/** `undefined` when there is none of that id. */
export async function dropFollowUp(store: FollowUpStore, userId: string, id: string): Promise<FollowUp | undefined> {
  let dropped: FollowUp | undefined;
  await store.of(userId).update((draft) => {
    dropped = draft.planned.find((one) => one.id === id);
    draft.planned = draft.planned.filter((one) => one.id !== id);
  });
  return dropped;
}
