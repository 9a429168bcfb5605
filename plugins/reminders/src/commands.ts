import {
  type Access,
  type Actor,
  type CommandContext,
  isTimeZone,
  option,
  plainText,
  type Registrar,
  similarTimeZone,
  subcommand,
  type ToolDefinition,
  t,
  UserError,
  visible,
  z,
} from '@cinnabar/sdk';
import { ComponentType, type Role } from 'discord.js';
import type { Reminder, ReminderContext } from './context.js';
import { discordTime, lineOf, type Order, type Reminders } from './store.js';
import { LONGEST_TEXT } from './when.js';

/** Suggested time zones; others can be typed. */
const COMMON_ZONES = [
  'Europe/Berlin',
  'Europe/London',
  'Europe/Athens',
  'Europe/Istanbul',
  'Europe/Moscow',
  'America/New_York',
  'America/Chicago',
  'America/Denver',
  'America/Los_Angeles',
  'America/Sao_Paulo',
  'Africa/Lagos',
  'Africa/Johannesburg',
  'Asia/Dubai',
  'Asia/Kolkata',
  'Asia/Bangkok',
  'Asia/Shanghai',
  'Asia/Tokyo',
  'Australia/Sydney',
  'Pacific/Auckland',
  'UTC',
] as const;

/** The access policy of reminders for others. */
export const MODERATORS = { tier: 'mod', where: 'guild' } as const;
const COOLDOWN = { uses: 5, perMs: 60_000 } as const;
const numbered = z.number().int().min(1).max(10_000).describe('Its number in the list');

/** Registers `!remind` and `!reminder …`. */
export function registerCommands(context: ReminderContext, reminders: Reminders): void {
  const { command, group, component, services } = context;
  const said = option.rest().describe('When, and what about: in 2h tea');

  const zones = component({
    name: 'zone',
    async run(interaction, [userId = '']) {
      if (!interaction.isStringSelectMenu()) return;
      if (interaction.user.id !== userId) throw new UserError(t('This question was for somebody else.'));
      const [timeZone = ''] = interaction.values;
      if (!isTimeZone(timeZone)) throw new UserError(t('There is no such time zone.'));
      const content = zoneText(timeZone, await reminders.chooseZone(userId, timeZone));
      await interaction.update({ content, components: [] });
    },
  });

  const set = async (ctx: CommandContext, order: Omit<Order, 'isPublic'>) => {
    const isPublic = ctx.source === 'prefix' && ctx.guild !== null;
    const made = await reminders.set(ctx.actor, { ...order, isPublic });
    const { timeZone } = made;
    const content = confirmation(made, ctx.channel.id);
    if (!(await reminders.asksForZone(ctx.actor, made))) return ctx.reply(content);
    const question = t(
      'I took the time as that of {timeZone}. Is yours another one? I ask only once; `reminder timezone` changes it.',
      { timeZone },
    );
    return ctx.reply({
      content: `${content}\n${question}`,
      components: [
        {
          type: ComponentType.ActionRow,
          components: [
            {
              type: ComponentType.StringSelect,
              customId: zones.customId(ctx.user.id),
              placeholder: t('Your time zone'),
              options: COMMON_ZONES.map((zone) => ({ label: zone.replaceAll('_', ' '), value: zone })),
            },
          ],
        },
      ],
    });
  };

  command({
    name: 'remind',
    aliases: ['remindme', 'erinnere'],
    description: 'Reminds you of something: in 2h, tomorrow at 9, every Monday at 18:00',
    cooldown: COOLDOWN,
    options: {
      where: z.enum(['here', 'dm']).default('here').describe('In this channel, or by direct message'),
      what: said.optional(),
    },
    examples: ['remind me in 2h tea', 'remind tomorrow at 9 call Bob', 'remind dm every Monday at 18:00 raid'],
    run: (ctx, { where, what = '' }) => set(ctx, { said: what, to: where }),
  });

  group({
    name: 'reminder',
    aliases: ['reminders'],
    description: 'Your reminders: list, edit, cancel',
    commands: [
      subcommand({
        name: 'list',
        description: 'List your reminders',
        ephemeral: true,
        async run(ctx) {
          const mine = await reminders.list(ctx.actor);
          if (mine.length === 0) return ctx.reply(t('You have no reminders. Set one with `remind in 2h tea`.'));
          // A reminder that was set in a direct message is shown only there.
          const shown = mine.map((one) => (isHidden(one, ctx) ? { ...one, text: t('(set privately)') } : one));
          return ctx.reply(shown.map(lineOf).join('\n'));
        },
      }),
      subcommand({
        name: 'edit',
        description: 'Change the text of a reminder',
        options: { number: numbered, text: option.rest().describe('What it is about now') },
        examples: ['reminder edit 2 green tea'],
        async run(ctx, { number, text }) {
          const one = await reminders.edit(ctx.actor, number, { text });
          await ctx.reply(t('Reminder {number} now says: {text}', { number, text: plainText(one.text) }));
        },
      }),
      subcommand({
        name: 'move',
        description: 'Change when a reminder comes',
        options: { number: numbered, when: option.rest().describe('When: in 2h, tomorrow at 9') },
        examples: ['reminder move 2 tomorrow at 9'],
        async run(ctx, { number, when }) {
          const one = await reminders.edit(ctx.actor, number, { when });
          await ctx.reply(t('Reminder {number} now comes {when}.', { number, when: discordTime(one.dueAt) }));
        },
      }),
      subcommand({
        name: 'cancel',
        aliases: ['delete', 'remove', 'forget'],
        description: 'Cancel a reminder',
        options: { number: numbered },
        async run(ctx, { number }) {
          await reminders.cancel(ctx.actor, number);
          await ctx.reply(t('Reminder {number} is cancelled.', { number }));
        },
      }),
      subcommand({
        name: 'timezone',
        description: 'Show or choose your time zone',
        options: {
          zone: option
            .suggested((typed) =>
              COMMON_ZONES.filter((zone) => zone.toLowerCase().includes(typed.toLowerCase())).map((zone) => ({
                name: zone,
                value: zone,
              })),
            )
            .optional()
            .describe('Such as Europe/Berlin'),
        },
        async run(ctx, { zone }) {
          if (zone === undefined) {
            return ctx.reply(
              t('Your times are those of {timeZone}.', { timeZone: await reminders.timeZoneOf(ctx.actor) }),
            );
          }
          if (!isTimeZone(zone)) {
            const meant = similarTimeZone(zone);
            throw new UserError(
              meant === undefined
                ? t('There is no such time zone. Write one such as `Europe/Berlin`.')
                : t('There is no such time zone. Did you mean `{meant}`?', { meant }),
            );
          }
          return ctx.reply(zoneText(zone, await reminders.chooseZone(ctx.user.id, zone)));
        },
      }),
      subcommand({
        name: 'role',
        description: 'Remind a role in this channel',
        access: MODERATORS,
        options: { role: option.role().describe('Whom'), what: said },
        examples: ['reminder role @Raiders every Monday at 18:00 raid'],
        async run(ctx, { role, what }) {
          if (role.id === role.guild.id) throw new UserError(t('I do not call everyone. Choose a role.'));
          if (!(await mayMention(services.access, ctx.actor, role)))
            throw new UserError(t('You may not mention that role.'));
          return set(ctx, { said: what, to: 'here', roleId: role.id });
        },
      }),
      subcommand({
        name: 'channel',
        description: 'Put a reminder into a channel, for all who read it',
        access: MODERATORS,
        options: { channel: option.channel().describe('Where'), what: said },
        examples: ['reminder channel #general tomorrow at 9 the server restarts'],
        async run(ctx, { channel, what }) {
          const at = { guildId: channel.guildId, channelId: channel.id };
          if (!(await services.access.mayEnter(ctx.actor, at, ['SendMessages']))) {
            throw new UserError(t('You may not write there.'));
          }
          return set(ctx, { said: what, to: { channelId: channel.id }, roleId: '' });
        },
      }),
    ],
  });
}

/** Whether a member may mention a role in their current channel. */
export const mayMention = async (access: Pick<Access, 'mayEnter'>, actor: Actor, { mentionable }: Role) =>
  mentionable || (await access.mayEnter(actor, actor, ['MentionEveryone']));

/** Whether the text must not be shown to other readers of the channel. */
function isHidden({ isPublic }: Reminder, ctx: CommandContext): boolean {
  return !isPublic && ctx.source === 'prefix' && ctx.guild !== null;
}

function zoneText(timeZone: string, moved: readonly Reminder[]): string {
  const [first] = moved;
  if (first === undefined) return t('Your time zone is {timeZone}.', { timeZone });
  return moved.length === 1
    ? t('Your time zone is {timeZone}. I will remind you {when}.', { timeZone, when: discordTime(first.dueAt) })
    : t('Your time zone is {timeZone}. {count} of your reminders come at another time now: `reminder list`.', {
        timeZone,
        count: moved.length,
      });
}

/** The answer after a reminder was set. */
function confirmation({ number, dueAt, repeat, channelId }: Reminder, here: string): string {
  const values = { number, when: discordTime(dueAt), left: discordTime(dueAt, 'R') };
  const where =
    channelId === null ? t(' I will write you a direct message.') : channelId === here ? '' : ` → <#${channelId}>`;
  const sentence =
    repeat === undefined
      ? t('Reminder {number} is set: {when} ({left}).', values)
      : t('Reminder {number} is set and repeats; the first time is {when} ({left}).', values);
  return `${sentence}${where}`;
}

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

/** The commands' actions as tools for models, under the same rules: always for the requester's own reminders. */
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
