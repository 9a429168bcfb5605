import {
  type Actor,
  type Collections,
  type Registrar,
  sentenceOf,
  type Tasks,
  type ToolDefinition,
  t,
  UserError,
  z,
} from '@cinnabar/sdk';
import type { Client } from 'discord.js';
import type { TaskContext } from '../context.js';

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

const LOOK_FOR_DUE_MS = 15_000;

/** Registers follow-ups, which are tasks that begin later: the tools that plan, list and cancel them, and the job that starts them. */
export function registerFollowUps(
  { tool, every, ready }: Pick<Registrar, 'tool' | 'every' | 'ready'>,
  context: TaskContext,
  tasks: Tasks,
  store: FollowUpStore,
): void {
  tool(planTool(context, store));
  tool(listTool(store));
  tool(cancelTool(store));
  ready(store.divide);
  // The guilds of this process are known only when the client is ready.
  every(LOOK_FOR_DUE_MS, () => (context.client.isReady() ? startDue(context, tasks, store) : undefined));
}

function planTool(
  { clock, random, hasModel }: TaskContext,
  store: FollowUpStore,
): ToolDefinition<typeof planInput, FollowUp> {
  return {
    name: 'schedule_follow_up',
    description: 'Plans a task that begins by itself later, in this channel, with the rights of the member who asks.',
    input: planInput,
    risk: 'write',
    offered: hasModel,
    examples: ['in {inMinutes} minutes {goal}', 'remind me in {inMinutes} minutes to {goal}'],
    present: {
      sentence: ({ inMinutes, goal }) => t("In {inMinutes} min I'll start a task: {goal}", { inMinutes, goal }),
      said: ['inMinutes', 'goal'],
      action: 'Plan a task',
      labels: { inMinutes: 'In minutes' },
      success: (_, { id, dueAt }) =>
        t('✓ Planned for {when} (follow-up {id}).', { when: `<t:${Math.round(dueAt / 1000)}:f>`, id }),
      cancelled: () => t('Cancelled the follow-up.'),
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

function listTool(store: FollowUpStore): ToolDefinition<z.ZodObject, readonly FollowUp[]> {
  return {
    name: 'list_follow_ups',
    description: 'Lists the tasks that the member who asks has planned for later.',
    input: z.object({}),
    risk: 'read',
    examples: ['what have I planned?'],
    present: {
      sentence: () => t("I'll list what you have planned"),
      action: 'List follow-ups',
      success: (_, planned) =>
        planned.length === 0
          ? t('Nothing is planned.')
          : planned.map(({ id, dueAt, goal }) => `${id}: ${new Date(dueAt).toISOString()}: ${goal}`).join('\n'),
    },
    // In a server, only follow-ups of that server are listed.
    run: async (_, { actor }) =>
      (await store.of(actor).get()).planned.filter(({ guildId }) => guildId === actor.guildId),
  };
}

function cancelTool(store: FollowUpStore): ToolDefinition<typeof cancelInput, FollowUp> {
  return {
    name: 'cancel_follow_up',
    description: 'Cancels a task that the member who asks has planned for later.',
    input: cancelInput,
    risk: 'write',
    present: {
      sentence: ({ id }) => t("I'll cancel the follow-up {id}", { id }),
      said: ['id'],
      action: 'Cancel a follow-up',
      success: ({ id }) => t('✓ Follow-up {id} is cancelled.', { id }),
    },
    async run({ id }, { actor }) {
      const dropped = await dropFollowUp(store, actor, id);
      if (dropped === undefined)
        throw new UserError(t('There is no follow-up of that id. list_follow_ups lists them.'));
      return dropped;
    },
  };
}

const followUp = z.object({
  id: z.string(),
  goal: z.string(),
  guildId: z.string().nullable(),
  channelId: z.string(),
  /** In ms since the Unix epoch. */
  dueAt: z.number(),
  /** Set before its task is started, so that after a crash it is known that the task may exist. */
  starting: z.boolean().default(false),
});

const schema = z.object({ planned: z.array(followUp).default([]) });

/** A member's follow-ups: one document for each server and one for direct messages, so that export and deletion cover them. */
export const followUpCollections = {
  // Follow-ups of direct messages, which belong to one process.
  followUps: { scope: 'user', version: 1, schema, shared: false },
  guildFollowUps: { scope: 'member', version: 1, schema },
} as const;

type FollowUp = z.output<typeof followUp>;
/** The member who planned a follow-up, and the guild; `null`: in a direct message. */
type Planner = Pick<Actor, 'userId' | 'guildId'>;
type FollowUpStore = ReturnType<typeof createFollowUpStore>;

export function createFollowUpStore({ followUps, guildFollowUps }: Collections<typeof followUpCollections>) {
  const of = ({ guildId, userId }: Planner) =>
    guildId === null ? followUps.of(userId) : guildFollowUps.of({ guildId, userId });
  return {
    of,
    /** The planned follow-ups, by member. */
    async *all(): AsyncGenerator<readonly [planner: Planner, planned: readonly FollowUp[]]> {
      for await (const [userId, { planned }] of followUps.entries()) yield [{ guildId: null, userId }, planned];
      for await (const [key, { planned }] of guildFollowUps.entries()) {
        const [guildId = '', userId = ''] = key.split(':');
        yield [{ guildId, userId }, planned];
      }
    },
    /** Earlier versions kept all follow-ups of a member in one document. Moves those of servers to their own documents; safe to repeat. */
    async divide(): Promise<void> {
      for await (const [userId, { planned }] of followUps.entries()) {
        const elsewhere = planned.filter(({ guildId }) => guildId !== null);
        for (const one of elsewhere) {
          await of({ guildId: one.guildId, userId }).update((draft) => {
            if (!draft.planned.some(({ id }) => id === one.id)) draft.planned.push(one);
          });
        }
        if (elsewhere.length === 0) continue;
        await followUps.of(userId).update((draft) => {
          draft.planned = draft.planned.filter(({ id }) => !elsewhere.some((one) => one.id === id));
        });
      }
    },
  };
}

const MOST_PER_MEMBER = 10;

/** @throws UserError when there are too many */
async function planFollowUp(store: FollowUpStore, actor: Actor, planned: FollowUp): Promise<void> {
  await store.of(actor).update((draft) => {
    if (draft.planned.length >= MOST_PER_MEMBER) {
      throw new UserError(
        t('You have {count} follow-ups planned already; cancel one, or wait for one.', { count: MOST_PER_MEMBER }),
      );
    }
    draft.planned.push(planned);
  });
}

/** Resolves with the removed follow-up; `undefined` without one of that id. */
async function dropFollowUp(store: FollowUpStore, planner: Planner, id: string): Promise<FollowUp | undefined> {
  let dropped: FollowUp | undefined;
  await store.of(planner).update((draft) => {
    dropped = draft.planned.find((one) => one.id === id);
    draft.planned = draft.planned.filter((one) => one.id !== id);
  });
  return dropped;
}

const originOf = ({ id }: FollowUp) => `follow-up ${id}`;

/**
 * Starts the tasks of due follow-ups. Each is marked before its task is started and removed afterwards: one that was marked by a process that died is started
 * only if its task does not exist.
 */
async function startDue(context: TaskContext, tasks: Tasks, store: FollowUpStore): Promise<void> {
  const due: (readonly [userId: string, FollowUp])[] = [];
  for await (const [{ userId }, planned] of store.all()) {
    for (const one of planned) if (one.dueAt <= context.clock.now()) due.push([userId, one]);
  }
  for (const [userId, one] of due) {
    const { guildId } = one;
    await context.languages.speak({ guildId, userId }, () => startOne(context, tasks, store, userId, one));
  }
}

async function startOne(
  { client, log }: TaskContext,
  tasks: Tasks,
  store: FollowUpStore,
  userId: string,
  one: FollowUp,
): Promise<void> {
  const { guildId, channelId, goal } = one;
  const actor: Actor = { userId, guildId, channelId };
  try {
    const begun =
      one.starting && (await tasks.list({ guildId, userId })).some(({ origin }) => origin === originOf(one));
    if (!begun) {
      await store.of(actor).update((draft) => {
        for (const planned of draft.planned) if (planned.id === one.id) planned.starting = true;
      });
      await tasks.start({ prompt: goal, actor, origin: originOf(one) });
    }
  } catch (error) {
    log.warn('a follow-up could not be started', { userId, channelId, error });
    await reportFailure(client, actor, sentenceOf(error));
  }
  await dropFollowUp(store, actor, one.id);
}

/** Notifies the member that a follow-up does not start, if the bot can write there. */
async function reportFailure(client: Client, { userId, channelId }: Actor, reason: string | undefined): Promise<void> {
  const channel = await client.channels.fetch(channelId).catch(() => null);
  if (channel?.isSendable() !== true) return;
  const content = t('{member} I could not begin what you had planned for now. {reason}', {
    member: `<@${userId}>`,
    reason: reason ?? t('Why is in the log.'),
  });
  await channel.send({ content, allowedMentions: { users: [userId] } }).catch(() => undefined);
}
