import {
  type Actor,
  formatDuration,
  type ModerationAct,
  type ModerationRequest,
  parseDuration,
  type ToolDefinition,
  type ToolInput,
  t,
  UserError,
  z,
} from '@cinnabar/sdk';
import { actText } from './case-text.js';
import { lockedText, policyOf, slowmodeText, unlockedText } from './commands.js';
import { filterText, type Moderator, purgedText } from './moderator.js';
import { messageIdIn, type PurgeFilter } from './purge.js';
import { LONGEST_REASON, MOST_PURGED, type ModerationContext, NEEDED } from './settings.js';

const memberField = z.string().min(1).max(100).describe('The member: a mention, an id or a name');
const reasonField = z.string().max(LONGEST_REASON).optional().describe('Why; it is kept with the case');
const durationField = z.string().max(30).describe('How long, such as 10m, 2h or 7d');
const daysField = z.int().min(0).max(7).optional().describe('Also delete their messages of so many days');
const channelField = z.string().max(120).optional().describe('The channel; by default the one of the conversation');
const numberField = z.int().min(1).describe('The number of the case');

function durationOf(text: string): number {
  const durationMs = parseDuration(text);
  if (durationMs === undefined) throw new UserError(t('Write the duration such as `10m`, `2h` or `7d`.'));
  return durationMs;
}

/** The arguments of all tools for actions on members; each tool has some of them. */
interface ActInput {
  readonly member: string;
  readonly reason?: string | undefined;
  readonly duration?: string | undefined;
  readonly points?: number | undefined;
  readonly delete_days?: number | undefined;
}

/** Registers tools for the actions of the commands, under the same access rules. */
export function registerTools({ tool }: ModerationContext, moderator: Moderator): void {
  const requestOf = async (
    act: ModerationAct,
    { member, reason, duration, points, delete_days: deleteDays }: ActInput,
    actor: Actor,
  ): Promise<ModerationRequest> => {
    const guild = moderator.guildOf(actor);
    const durationMs = duration === undefined ? undefined : durationOf(duration);
    return {
      guildId: guild.id,
      userId: await moderator.userIdOf(guild, member),
      act,
      actor,
      reason,
      durationMs,
      points,
      deleteDays,
    };
  };

  const act = <S extends ToolInput & z.ZodType<ActInput>>(
    kind: ModerationAct,
    name: string,
    input: S,
    words: {
      readonly description: string;
      readonly examples: readonly string[];
      readonly action: string;
      sentence(who: string, input: ActInput): string;
    },
  ) => {
    const { description, examples, action, sentence } = words;
    const given = (values: z.output<S>): ActInput => values;
    tool({
      name,
      description,
      input,
      risk: kind === 'untimeout' || kind === 'unban' ? 'write' : 'destructive',
      access: policyOf(NEEDED[kind]),
      examples,
      check: async (values, { actor }) => moderator.acts.check(await requestOf(kind, given(values), actor)),
      run: async (values, { actor }) => moderator.acts.act(await requestOf(kind, given(values), actor)),
      present: {
        sentence: (values) => sentence(given(values).member, given(values)),
        action,
        async describe(values, { actor }) {
          const { userId } = await requestOf(kind, given(values), actor);
          return { sentence: sentence(`<@${userId}>`, given(values)) };
        },
        success: (_, result) => actText(result),
      },
    });
  };

  act(
    'warn',
    'warn_member',
    z.object({
      member: memberField,
      reason: reasonField,
      points: z.int().min(1).max(100).optional().describe('How much it counts'),
    }),
    {
      description:
        'Warn a member of this server. The warning is kept as a case, and the member is told. Enough warnings lead to what the server has set.',
      examples: ['warn {member} for {reason}', 'give {member} a warning for {reason}', 'warn {member}'],
      action: 'Warn a member',
      sentence: (who) => t("I'll warn {who}", { who }),
    },
  );
  act('timeout', 'timeout_member', z.object({ member: memberField, duration: durationField, reason: reasonField }), {
    description:
      'Put a member of this server in time-out: until it ends they can read, but neither write nor speak. Kept as a case.',
    examples: [
      'mute {member} for {duration}',
      'time out {member} for {duration}',
      'time out {member} for {duration} because of {reason}',
    ],
    action: 'Time out a member',
    sentence: (who, { duration = '' }) => t("I'll put {who} in time-out for {duration}", { who, duration }),
  });
  act('untimeout', 'end_timeout', z.object({ member: memberField, reason: reasonField }), {
    description: 'End the time-out of a member of this server before its time.',
    examples: ['unmute {member}', 'end the time-out of {member}'],
    action: 'End a time-out',
    sentence: (who) => t("I'll end the time-out of {who}", { who }),
  });
  act('kick', 'kick_member', z.object({ member: memberField, reason: reasonField }), {
    description: 'Remove a member from this server; they can join again. Kept as a case.',
    examples: ['kick {member}', 'kick {member} for {reason}', 'kick {member} from the server'],
    action: 'Kick a member',
    sentence: (who) => t("I'll remove {who} from the server", { who }),
  });
  const banInput = z.object({
    member: z
      .string()
      .min(1)
      .max(100)
      .describe('The member: a mention, an id or a name; of a user who is not here the id'),
    reason: reasonField,
    delete_days: daysField,
  });
  act('ban', 'ban_member', banInput, {
    description: 'Ban a user from this server for good, whether or not they are a member. Kept as a case.',
    examples: ['ban {member}', 'ban {member} because of {reason}'],
    action: 'Ban a member',
    sentence: (who) => t("I'll ban {who}", { who }),
  });
  act('tempban', 'ban_member_for_a_while', banInput.extend({ duration: durationField }), {
    description: 'Ban a user from this server for a while; the ban ends by itself. Kept as a case.',
    examples: ['ban {member} for {duration}', 'ban {member} for {duration} because of {reason}'],
    action: 'Ban a member for a while',
    sentence: (who, { duration = '' }) => t("I'll ban {who} for {duration}", { who, duration }),
  });
  act('softban', 'softban_member', z.object({ member: memberField, reason: reasonField, delete_days: daysField }), {
    description:
      'Remove a member from this server together with their latest messages; they can join again. Kept as a case.',
    examples: ['softban {member}', 'softban {member} for {reason}'],
    action: 'Softban a member',
    sentence: (who) => t("I'll remove {who} and their latest messages; they can join again", { who }),
  });
  act(
    'unban',
    'unban_user',
    z.object({ member: z.string().min(1).max(100).describe('The id of the user, or a mention'), reason: reasonField }),
    {
      description: 'Lift the ban of a user.',
      examples: ['unban {member}', 'lift the ban of {member}'],
      action: 'Lift a ban',
      sentence: (who) => t("I'll lift the ban of {who}", { who }),
    },
  );
  registerCaseTools(tool, moderator);
  registerChannelTools(tool, moderator);
}

type Register = ModerationContext['tool'];

function registerCaseTools(tool: Register, moderator: Moderator): void {
  tool({
    name: 'list_cases',
    description:
      'List the moderation cases of this server, the newest first: all, or those about one member, with reasons.',
    input: z.object({
      member: z.string().max(100).optional().describe('About whom: a mention, an id or a name'),
      page: z.int().min(1).max(1_000).optional().describe('Which page; 1 by default'),
    }),
    risk: 'read',
    access: { tier: 'mod', where: 'guild' },
    examples: [
      'list the cases of this server',
      'which cases are there about {member}?',
      'what has {member} been warned for?',
    ],
    async run({ member, page = 1 }, { actor }) {
      const guild = moderator.guildOf(actor);
      const userId = member === undefined ? undefined : await moderator.userIdOf(guild, member);
      return {
        text: await moderator.list(guild.id, userId, page),
        guildId: guild.id,
        userIds: userId === undefined ? [] : [userId],
      };
    },
    sources: ({ guildId, userIds }) => [{ guildId, userIds }],
    present: {
      sentence: () => t("I'll list the cases of this server"),
      action: 'List cases',
      success: (_, { text }) => text,
    },
  });
  tool({
    name: 'remove_warning',
    description: 'Take a warning back: its points no longer count. The case stays.',
    input: z.object({ number: numberField, reason: reasonField }),
    risk: 'write',
    access: policyOf(NEEDED.warn),
    examples: ['take back warning {number}', 'remove the warning with the number {number}'],
    run: ({ number, reason }, { actor }) => moderator.removeWarning(actor, number, reason),
    present: {
      sentence: ({ number }) => t("I'll take back the warning with the number {number}", { number }),
      said: ['number'],
      action: 'Take a warning back',
      success: (_, text) => text,
    },
  });
  tool({
    name: 'change_case_reason',
    description: 'Change the reason of a moderation case.',
    input: z.object({ number: numberField, reason: z.string().min(1).max(LONGEST_REASON).describe('The new reason') }),
    risk: 'write',
    access: { tier: 'mod', where: 'guild' },
    examples: ['change the reason of case {number} to {reason}'],
    run: ({ number, reason }, { actor }) => moderator.changeReason(actor, number, reason),
    present: {
      sentence: ({ number }) => t("I'll change the reason of case {number}", { number }),
      said: ['number'],
      action: 'Change the reason of a case',
      success: (_, text) => text,
    },
  });
}

function registerChannelTools(tool: Register, moderator: Moderator): void {
  const input = z.object({
    count: z.int().min(1).max(MOST_PURGED).describe('How many messages at most'),
    member: z.string().max(100).optional().describe('Only what this user wrote: a mention, an id or a name'),
    bots: z.boolean().optional().describe('Only messages of bots'),
    contains: z.string().min(1).max(200).optional().describe('Only messages with this text'),
    links: z.boolean().optional().describe('Only messages with links'),
    files: z.boolean().optional().describe('Only messages with files'),
    before: z.string().max(200).optional().describe('Only older than this message: its link or id'),
    after: z.string().max(200).optional().describe('Only newer than this message: its link or id'),
    pinned: z.boolean().optional().describe('Pinned messages, too'),
  });
  const filterOf = async (
    { member, before, after, ...rest }: z.output<typeof input>,
    actor: Actor,
  ): Promise<PurgeFilter> => ({
    ...rest,
    from: member === undefined ? undefined : await moderator.userIdOf(moderator.guildOf(actor), member),
    before: before === undefined ? undefined : messageIdIn(before),
    after: after === undefined ? undefined : messageIdIn(after),
  });
  tool({
    name: 'purge_messages',
    description:
      'Delete the latest messages of this channel, all or those that fit the filters. Pinned ones stay unless asked for.',
    input,
    risk: 'destructive',
    access: {
      ...policyOf('ManageMessages'),
      member: ['ManageMessages', 'ReadMessageHistory'],
      bot: ['ManageMessages', 'ReadMessageHistory'],
    },
    examples: [
      'delete the last {count} messages',
      'purge {count} messages',
      'delete the last {count} messages of {member}',
      'delete the last {count} messages with {contains} in them',
    ],
    async run(values, { actor, progress }) {
      const channel = await moderator.textChannelOf(actor);
      const found = await moderator.findMessages(channel, await filterOf(values, actor), true);
      const done = await moderator.purge(actor, channel.id, found.ids, (deleted) =>
        progress({ progress: deleted, total: found.ids.length }),
      );
      return { done, found: { isCut: found.isCut } };
    },
    present: {
      sentence: ({ count }) => t("I'll delete up to {count} of the latest messages of this channel", { count }),
      action: 'Delete messages',
      async describe(values, { actor }) {
        const { count } = values;
        const what = filterText(await filterOf(values, actor));
        return what === ''
          ? { sentence: t("I'll delete up to {count} of the latest messages of this channel", { count }) }
          : {
              sentence: t("I'll delete up to {count} of the latest messages of this channel ({what})", { count, what }),
            };
      },
      success: (_, { done, found }) => purgedText(done, found),
    },
  });
  const where = async (channel: string | undefined, actor: Actor) =>
    channel === undefined ? moderator.textChannelOf(actor) : moderator.channelOf(moderator.guildOf(actor), channel);
  const named = (channel: string | undefined) => channel ?? t('this channel');
  const change = <S extends ToolInput & z.ZodType<{ channel?: string | undefined }>>(
    definition: Pick<ToolDefinition<S>, 'name' | 'description' | 'input' | 'examples' | 'risk'> & {
      readonly action: string;
      sentence(channel: string, input: z.output<S>): string;
      run(input: z.output<S>, channel: Awaited<ReturnType<typeof where>>, actor: Actor): Promise<string>;
    },
  ) => {
    const { action, sentence, run, ...rest } = definition;
    tool({
      ...rest,
      access: policyOf('ManageChannels'),
      run: async (values, { actor }) => run(values, await where(values.channel, actor), actor),
      present: {
        sentence: (values) => sentence(named(values.channel), values),
        action,
        success: (_, text) => text,
      },
    });
  };
  change({
    name: 'set_slowmode',
    description: 'Let members write only every so often in a channel; 0s ends it.',
    input: z.object({
      interval: z.string().max(30).describe('How often, such as 10s; 0s for no slow mode'),
      channel: channelField,
    }),
    risk: 'write',
    examples: ['set slow mode to {interval}', 'set slow mode to {interval} in {channel}'],
    action: 'Set slow mode',
    sentence: (channel, { interval }) =>
      t("I'll set slow mode in {channel} to {interval}", { channel, interval: formatDuration(durationOf(interval)) }),
    async run({ interval }, channel, actor) {
      await moderator.channelActs.slowmode(actor, channel, durationOf(interval));
      return slowmodeText(channel.id, durationOf(interval));
    },
  });
  change({
    name: 'lock_channel',
    description: 'Let only moderators write in a channel until it is unlocked.',
    input: z.object({ channel: channelField, reason: reasonField }),
    risk: 'write',
    examples: ['lock this channel', 'lock the channel {channel}'],
    action: 'Lock a channel',
    sentence: (channel) => t("I'll lock {channel}: only moderators can write there then", { channel }),
    async run({ reason }, channel, actor) {
      await moderator.channelActs.lock(actor, channel, reason);
      return lockedText(channel.id);
    },
  });
  change({
    name: 'unlock_channel',
    description: 'Open a locked channel again, as it was before.',
    input: z.object({ channel: channelField, reason: reasonField }),
    risk: 'write',
    examples: ['unlock this channel', 'unlock the channel {channel}'],
    action: 'Unlock a channel',
    sentence: (channel) => t("I'll open {channel} again", { channel }),
    async run({ reason }, channel, actor) {
      await moderator.channelActs.unlock(actor, channel, reason);
      return unlockedText(channel.id);
    },
  });
}
