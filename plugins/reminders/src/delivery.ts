import {
  asNotice,
  createKeyedMutex,
  type DueDocument,
  earliestIdAt,
  findSendable,
  isForbidden,
  isUnreachable,
  sendOnce,
  t,
  UserError,
} from '@cinnabar/sdk';
import { ButtonStyle, ComponentType, type MessageCreateOptions, type SendableChannels } from 'discord.js';
import { MODERATORS, mayMention } from './commands.js';
import type { Reminder, ReminderContext } from './context.js';
import { discordTime, type Reminders } from './store.js';
import { nextTime } from './when.js';

/** Delay after which a reminder says that it is late. */
const LATE_MS = 120_000;
/** Time for which a delivered reminder is kept for its buttons. */
const KEPT_MS = 86_400_000;
/** A repeating reminder ends after this number of failed deliveries in a row. */
const MOST_FAILURES = 3;

const SNOOZES = { '10m': 600_000, '1h': 3_600_000, '1d': 86_400_000 } as const;
const isSnooze = (name: string | undefined): name is keyof typeof SNOOZES => name !== undefined && name in SNOOZES;

/** Delivers due reminders, and handles the buttons below them. */
export function registerDelivery(context: ReminderContext, reminders: Reminders): void {
  const { collections, client, log, services, component, schedule, settings } = context;
  const { access, clock, languages } = services;
  const stored = collections.reminders;

  const snoozing = createKeyedMutex();
  const snooze = component({
    name: 'snooze',
    async run(interaction, [id = '', by]) {
      if (!interaction.isButton()) return;
      const reminder = await stored.of(id).find();
      if (reminder === undefined || !isSnooze(by)) {
        throw new UserError(t('This reminder is too old for that. Set a new one with `remind`.'));
      }
      if (interaction.user.id !== reminder.userId) {
        throw new UserError(t('Only the member whose reminder it is can do that.'));
      }
      const { id: messageId } = interaction.message;
      const again = await snoozing.run(id, async () => {
        // The button was pressed twice before it was removed.
        if ((await stored.of(id).find())?.snoozedBy === messageId) return undefined;
        const made = await reminders.snooze(reminder, clock.now() + SNOOZES[by]);
        await stored.of(id).update((draft) => (draft.snoozedBy = messageId));
        return made;
      });
      if (again === undefined) return void (await interaction.deferUpdate());
      const content = asNotice(t('I will remind you again {when}.', { when: discordTime(again.dueAt, 'R') }));
      await interaction.update({ components: [] });
      await interaction.followUp({ content, ephemeral: true });
    },
  });

  schedule(stored, {
    dueAt: ({ dueAt }) => dueAt,
    guildOf: ({ guildId }) => guildId,
    async run(due) {
      // Its time for the buttons is over: the reminder is deleted.
      if (due.value.deliveredAt !== undefined) return;
      const { userId, guildId } = due.value;
      await languages.speak({ guildId, userId }, () => deliver(due));
    },
  });

  async function deliver({ key, value, dueAt, lateMs }: DueDocument<Reminder>): Promise<void> {
    const begunAt = value.sendingAt;
    if (begunAt === undefined) await stored.of(key).update((draft) => (draft.sendingAt = clock.now()));
    const isDelivered = await send(key, value, lateMs, begunAt);
    const { mostRepeats } = await settings.guild(value.guildId).get();
    await stored.of(key).update((draft) => {
      // The member has changed the reminder meanwhile; the new time stays.
      const isMoved = draft.dueAt !== dueAt;
      delete draft.sendingAt;
      draft.times += 1;
      draft.failures = isDelivered ? 0 : draft.failures + 1;
      if (isMoved) return;
      const { repeat, times, failures, timeZone } = draft;
      if (repeat !== undefined && times < mostRepeats && failures < MOST_FAILURES) {
        // Repetitions that were missed while the bot was offline are delivered once.
        draft.dueAt = nextTime(
          repeat,
          Math.max(dueAt, repeat.kind === 'interval' ? dueAt + missed(repeat.everyMs) : clock.now()),
          timeZone,
        );
        return;
      }
      draft.deliveredAt = clock.now();
      draft.dueAt = clock.now() + KEPT_MS;
    });

    function missed(everyMs: number): number {
      return Math.floor((clock.now() - dueAt) / everyMs) * everyMs;
    }
  }

  /** The reminder with its allowed target: a channel only while the member may mention it, otherwise the member. */
  async function asAllowed(reminder: Reminder): Promise<Reminder> {
    const { roleId, ...own } = reminder;
    if (roleId === undefined || (await mayCall(roleId, reminder))) return reminder;
    return { ...own, channelId: null };
  }

  /** Whether the member may still mention the role, or, for an empty id, address a whole channel. */
  async function mayCall(roleId: string, { userId, guildId, channelId }: Reminder): Promise<boolean> {
    if (guildId === null || channelId === null) return false;
    const actor = { userId, guildId, channelId };
    const name = roleId === '' ? 'reminder channel' : 'reminder role';
    const request = { kind: 'command', name, plugin: 'reminders', policy: MODERATORS } as const;
    if (!(await access.decide(actor, request)).allowed) return false;
    const role = client.guilds.cache.get(guildId)?.roles.cache.get(roleId);
    return roleId === '' || (role !== undefined && mayMention(access, actor, role));
  }

  /** @returns whether it was delivered. @throws Discord's error; the delivery is then retried */
  async function send(id: string, stored: Reminder, lateMs: number, begunAt: number | undefined): Promise<boolean> {
    const reminder = await asAllowed(stored);
    const { userId, guildId, channelId, setIn, isPublic, times } = reminder;
    const attempt = async (channel: SendableChannels | undefined, notes: readonly string[], isShown = true) => {
      if (channel === undefined) return false;
      const message = messageOf(id, reminder, { lateMs, notes, isShown });
      const sentAfter = begunAt === undefined ? {} : { sentAfter: earliestIdAt(begunAt) };
      try {
        await sendOnce(channel, message, `reminder:${id}:${times}`, { clock, signal: context.signal, ...sentAfter });
        return true;
      } catch (error) {
        // An earlier process may have sent it, and the channel's history cannot be read, so it is not sent again.
        if (begunAt !== undefined && isForbidden(error) && channel.isSendable()) return true;
        if (isUnreachable(error)) return false;
        throw error;
      }
    };
    const inChannel = async (at: string) => {
      const place = { guildId, channelId: at };
      const actor = { userId, guildId, channelId: at };
      // A member in a time-out, or without access to the channel, cannot post there through the bot either.
      if (guildId !== null && !(await access.mayEnter(actor, place, ['SendMessages']))) return undefined;
      return findSendable(client, at);
    };

    if (channelId !== null && (await attempt(await inChannel(channelId), []))) return true;
    const dm = await client.users.createDM(userId).catch((error: unknown) => {
      if (isUnreachable(error)) return undefined;
      throw error;
    });
    const moved =
      channelId === null ? [] : [t('It was for <#{channelId}>, where one of us cannot write now.', { channelId })];
    if (await attempt(dm, moved)) return true;
    if (channelId !== null || guildId === null) {
      log.info('a reminder could not be delivered', { guildId, userId });
      return false;
    }
    // If other members could not read it when it was set, they must not read it now.
    const closed = t('I cannot write you direct messages, so I say it here.');
    return attempt(await inChannel(setIn), [closed], isPublic);
  }

  function messageOf(
    id: string,
    { userId, roleId, text, dueAt, repeat, number }: Reminder,
    {
      lateMs,
      notes,
      isShown,
    }: { readonly lateMs: number; readonly notes: readonly string[]; readonly isShown: boolean },
  ): MessageCreateOptions {
    const late = lateMs < LATE_MS ? [] : [t('Late: it was due {when}.', { when: discordTime(dueAt) })];
    const again = repeat === undefined ? [] : [t('It repeats; `reminder cancel {number}` ends it.', { number })];
    const whom = roleId === undefined ? `<@${userId}>` : roleId === '' ? '' : `<@&${roleId}>`;
    const about = isShown ? text : t('A reminder of yours is due.');
    const small = [...late, ...notes, ...again].map((note) => `-# ${note}`);
    const labels = { '10m': t('In 10 minutes'), '1h': t('In 1 hour'), '1d': t('Tomorrow') };
    return {
      content: [`⏰ ${whom} ${about}`.replace('  ', ' '), ...small].join('\n'),
      allowedMentions: { parse: [], users: roleId === undefined ? [userId] : [], roles: roleId ? [roleId] : [] },
      components: [
        {
          type: ComponentType.ActionRow,
          components: (['10m', '1h', '1d'] as const).map((by) => ({
            type: ComponentType.Button,
            style: ButtonStyle.Secondary,
            label: labels[by],
            customId: snooze.customId(id, by),
          })),
        },
      ],
    };
  }
}
