import { type Clock, hasModel, type Llm, type Random, type ToolDefinition, UserError, z } from '@cinnabar/sdk';
import { dropFollowUp, type FollowUp, type FollowUpStore, planFollowUp } from './store.js';

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
