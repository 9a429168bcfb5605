import { type Registrar, type ToolDefinition, t, visible, z } from '@cinnabar/sdk';
import { confirmation } from './commands.js';
import type { Reminder } from './context.js';
import { lineOf, type Reminders } from './store.js';
import { LONGEST_TEXT } from './when.js';

const when = z
  .string()
  .min(1)
  .max(100)
  .describe(
    'In words, English or German, in the time zone of the member: "in 2 hours", "tomorrow at 9", "2026-12-24 18:00", "every Monday at 18:00"',
  );
const about = z.string().min(1).max(LONGEST_TEXT).describe('What to remind of, as the member wants to read it');
const number = z.number().int().min(1).describe('As list_reminders gives it');

const setInput = z.object({
  when,
  about,
  where: z.enum(['here', 'dm']).default('here').describe('In this channel, or by direct message'),
});
const editInput = z.object({ number, when: when.optional(), about: about.optional() });
const cancelInput = z.object({ number });

/** The same acts for models, under the same rules: always the reminders of the member who asks. */
export function registerTools({ tool }: Pick<Registrar, 'tool'>, reminders: Reminders): void {
  const set: ToolDefinition<typeof setInput, Reminder> = {
    name: 'set_reminder',
    description:
      'Reminds the member who asks of something at a time. Only a message: use a follow-up where work is to be done then.',
    input: setInput,
    risk: 'write',
    policy: 'allow',
    examples: ['remind me {when} to {about}', 'remind me {when} of {about}'],
    present: {
      sentence: ({ when: at, about: what }) =>
        t("I'll remind you {when}: {what}", { when: visible(at), what: visible(what) }),
      said: ['when', 'about'],
      action: 'Set a reminder',
      success: (_, made) => confirmation(made, made.setIn),
      cancelled: () => t('Cancelled the reminder.'),
    },
    run: ({ when: said, about: text, where }, { actor }) =>
      reminders.set(actor, { said, text, to: where, isPublic: where === 'here' && actor.guildId !== null }),
  };
  const list: ToolDefinition<z.ZodObject, readonly Reminder[]> = {
    name: 'list_reminders',
    description: 'Lists the reminders of the member who asks, with their numbers.',
    input: z.object({}),
    risk: 'read',
    examples: ['what are my reminders?'],
    present: {
      sentence: () => t("I'll list your reminders"),
      action: 'List reminders',
      success: (_, mine) => (mine.length === 0 ? t('There are no reminders.') : mine.map(lineOf).join('\n')),
    },
    run: (_, { actor }) => reminders.list(actor),
  };
  const edit: ToolDefinition<typeof editInput, Reminder> = {
    name: 'edit_reminder',
    description: 'Changes the time or the text of a reminder of the member who asks.',
    input: editInput,
    risk: 'write',
    policy: 'allow',
    examples: ['move reminder {number} to {when}'],
    present: {
      sentence: ({ number: which }) => t("I'll change reminder {number}", { number: which }),
      action: 'Change a reminder',
      success: (_, changed) => lineOf(changed),
    },
    run: ({ number: which, when: said, about: text }, { actor }) => reminders.edit(actor, which, { when: said, text }),
  };
  const cancel: ToolDefinition<typeof cancelInput, Reminder> = {
    name: 'cancel_reminder',
    description: 'Cancels a reminder of the member who asks.',
    input: cancelInput,
    risk: 'write',
    policy: 'allow',
    examples: ['cancel reminder {number}'],
    present: {
      sentence: ({ number: which }) => t("I'll cancel reminder {number}", { number: which }),
      said: ['number'],
      action: 'Cancel a reminder',
      success: ({ number: which }) => t('✓ Reminder {number} is cancelled.', { number: which }),
    },
    run: ({ number: which }, { actor }) => reminders.cancel(actor, which),
  };
  tool(set);
  tool(list);
  tool(edit);
  tool(cancel);
}
