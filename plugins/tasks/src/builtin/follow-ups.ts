import {
  type Actor,
  type Clock,
  type Collection,
  hasModel,
  type Llm,
  type Logger,
  type Random,
  sentenceOf,
  type Tasks,
  type ToolDefinition,
  UserError,
  z,
} from '@cinnabar/sdk';
import type { Client } from 'discord.js';

const MINUTE_MS = 60_000;
const LONGEST_MINUTES = 30 * 24 * 60;

const planInput = z.object({
  inMinutes: z
    .number()
    .int()
    .min(1)
    .max(LONGEST_MINUTES)
    .describe('In how many minutes it is to begin; 1440 are a day'),
  goal: z
    .string()
    .min(1)
    .max(4_000)
    .describe('What is to be done then: the whole task, with what must be known for it'),
});
const cancelInput = z.object({ id: z.string().min(1).max(64).describe('As list_follow_ups gives it') });

export interface PlanParts {
  readonly store: FollowUpStore;
  readonly clock: Clock;
  readonly random: Random;
  readonly llm: Pick<Llm, 'current'> | undefined;
}

/** Tasks that begin later, for whoever asks. */
export function planTool({ store, clock, random, llm }: PlanParts): ToolDefinition<typeof planInput, FollowUp> {
  return {
    name: 'schedule_follow_up',
    description: 'Plans a task that begins by itself later, in this channel, with the rights of the member who asks.',
    input: planInput,
    risk: 'write',
    offered: () => hasModel(llm),
    examples: ['in {inMinutes} minutes {goal}', 'remind me in {inMinutes} minutes to {goal}'],
    present: {
      sentence: ({ inMinutes, goal }) => `In ${inMinutes} min I'll start a task: ${goal}`,
      said: ['inMinutes', 'goal'],
      action: 'Plan a task',
      labels: { inMinutes: 'In minutes' },
      success: (_, { id, dueAt }) => `✓ Planned for <t:${Math.round(dueAt / 1000)}:f> (follow-up ${id}).`,
      cancelled: () => 'Cancelled the follow-up.',
    },
    async run({ inMinutes, goal }, { actor }) {
      const { guildId, channelId } = actor;
      const dueAt = clock.now() + inMinutes * MINUTE_MS;
      const planned = { id: random.id(), goal, guildId, channelId, dueAt, starting: false };
      await planFollowUp(store, actor, planned);
      return planned;
    },
  };
}

export function listTool({ store }: PlanParts): ToolDefinition<z.ZodObject, readonly FollowUp[]> {
  return {
    name: 'list_follow_ups',
    description: 'Lists the tasks that the member who asks has planned for later.',
    input: z.object({}),
    risk: 'read',
    examples: ['what have I planned?'],
    present: {
      sentence: () => "I'll list what you have planned",
      action: 'List follow-ups',
      success: (_, planned) =>
        planned.length === 0
          ? 'Nothing is planned.'
          : planned.map(({ id, dueAt, goal }) => `${id}: ${new Date(dueAt).toISOString()}: ${goal}`).join('\n'),
    },
    // What somebody has planned in one server is no business of another.
    run: async (_, { actor }) =>
      (await store.of(actor.userId).get()).planned.filter(({ guildId }) => guildId === actor.guildId),
  };
}

export function cancelTool({ store }: PlanParts): ToolDefinition<typeof cancelInput, FollowUp> {
  return {
    name: 'cancel_follow_up',
    description: 'Cancels a task that the member who asks has planned for later.',
    input: cancelInput,
    risk: 'write',
    present: {
      sentence: ({ id }) => `I'll cancel the follow-up ${id}`,
      said: ['id'],
      action: 'Cancel a follow-up',
      success: ({ id }) => `✓ Follow-up ${id} is cancelled.`,
    },
    async run({ id }, { actor }) {
      const mine = (await store.of(actor.userId).get()).planned.find((one) => one.id === id);
      const dropped = mine?.guildId === actor.guildId ? await dropFollowUp(store, actor.userId, id) : undefined;
      if (dropped === undefined) throw new UserError('There is no follow-up of that id. list_follow_ups lists them.');
      return dropped;
    },
  };
}

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

type FollowUp = z.output<typeof followUp>;
type FollowUpStore = Collection<z.output<typeof followUpsCollection.schema>, 'user'>;

const MOST_PER_MEMBER = 10;

/** @throws UserError when there are too many already */
async function planFollowUp(store: FollowUpStore, actor: Actor, planned: FollowUp): Promise<void> {
  await store.of(actor.userId).update((draft) => {
    if (draft.planned.length >= MOST_PER_MEMBER) {
      throw new UserError(`You have ${MOST_PER_MEMBER} follow-ups planned already; cancel one, or wait for one.`);
    }
    draft.planned.push(planned);
  });
}

/** `undefined` when there is none of that id. */
async function dropFollowUp(store: FollowUpStore, userId: string, id: string): Promise<FollowUp | undefined> {
  let dropped: FollowUp | undefined;
  await store.of(userId).update((draft) => {
    dropped = draft.planned.find((one) => one.id === id);
    draft.planned = draft.planned.filter((one) => one.id !== id);
  });
  return dropped;
}

export interface DueParts {
  readonly store: FollowUpStore;
  readonly tasks: Pick<Tasks, 'start' | 'list'>;
  readonly client: Client;
  readonly clock: Clock;
  readonly log: Logger;
}

const originOf = ({ id }: FollowUp) => `follow-up ${id}`;

/**
 * Starts the tasks of the follow-ups that are due. Each is marked before its task is started and taken away after: one that was marked by a
 * process that died is started only if its task is not there.
 */
export async function startDue(parts: DueParts): Promise<void> {
  const { store, clock } = parts;
  const due: (readonly [userId: string, FollowUp])[] = [];
  for await (const [userId, { planned }] of store.entries()) {
    for (const one of planned) if (one.dueAt <= clock.now()) due.push([userId, one]);
  }
  for (const [userId, one] of due) await startOne(userId, one, parts);
}

async function startOne(userId: string, one: FollowUp, parts: DueParts): Promise<void> {
  const { store, tasks, log } = parts;
  const { guildId, channelId, goal } = one;
  const actor: Actor = { userId, guildId, channelId };
  try {
    const begun =
      one.starting && (await tasks.list({ guildId, userId })).some(({ origin }) => origin === originOf(one));
    if (!begun) {
      await store.of(userId).update((draft) => {
        for (const planned of draft.planned) if (planned.id === one.id) planned.starting = true;
      });
      await tasks.start({ prompt: goal, actor, origin: originOf(one) });
    }
  } catch (error) {
    log.warn('a follow-up could not be started', { userId, channelId, error });
    await say(parts.client, actor, sentenceOf(error));
  }
  await dropFollowUp(store, userId, one.id);
}

/** Whoever planned it learns why nothing comes of it, unless nobody can be told there. */
async function say(client: Client, { userId, channelId }: Actor, reason: string | undefined): Promise<void> {
  const channel = await client.channels.fetch(channelId).catch(() => null);
  if (channel?.isSendable() !== true) return;
  const content = `<@${userId}> I could not begin what you had planned for now. ${reason ?? 'Why is in the log.'}`;
  await channel.send({ content, allowedMentions: { users: [userId] } }).catch(() => undefined);
}
