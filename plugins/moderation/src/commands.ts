import {
  type AccessPolicy,
  type Actor,
  asNotice,
  type CommandContext,
  createAskFirst,
  formatDuration,
  type ModerationAct,
  type ModerationRequest,
  type OptionShape,
  option,
  parseDuration,
  t,
  UserError,
  z,
} from '@cinnabar/sdk';
import type { GuildBasedChannel, Message, PermissionsString } from 'discord.js';
import { actText, caseText } from './case-text.js';
import { filterText, type Moderator, purgedText } from './moderator.js';
import { messageIdIn, type PurgeFilter } from './purge.js';
import { LONGEST_REASON, MOST_PURGED, type ModerationContext, NEEDED } from './settings.js';

const MODERATORS: AccessPolicy = { tier: 'mod', where: 'guild' };
const reason = option.rest().optional().describe('Why, for the case and for Discord’s audit log');
const days = z.int().min(0).max(7).optional().describe('Also delete their messages of so many days');
const duration = option.duration().describe('How long, such as 10m, 2h or 7d');
const number = z.int().min(1).describe('The number of the case');
const page = z.int().min(1).max(1_000).default(1).describe('Which page of the list');

/** Number of requests after which the progress of a purge is shown. */
const PROGRESS_EVERY = 5;

/** The access policy of an action's command. The bot's own permission is checked with the action, whose error says how to fix it. */
export const policyOf = (permission: PermissionsString): AccessPolicy => ({ ...MODERATORS, member: [permission] });

/** Commands for actions on members. */
export function registerMemberCommands({ command }: ModerationContext, moderator: Moderator): void {
  const act = <const O extends OptionShape>(
    name: ModerationAct,
    description: string,
    options: O,
    examples: readonly string[],
    more: { readonly aliases?: readonly string[]; readonly help?: string } = {},
  ) =>
    command({
      name,
      description,
      access: policyOf(NEEDED[name]),
      audited: true,
      options,
      examples,
      ...more,
      async run(ctx, values) {
        const given = asked.parse(values);
        const target = given.member ?? given.user;
        if (name === 'ban') requireNoDuration(given.reason);
        const request: ModerationRequest = {
          guildId: moderator.guildOf(ctx.actor).id,
          userId: target?.id ?? '',
          act: name,
          actor: ctx.actor,
          reason: given.reason,
          durationMs: given.duration,
          points: given.points,
          deleteDays: given.days,
        };
        await ctx.defer();
        await ctx.reply(actText(await moderator.acts.act(request)));
      },
    });

  const member = option.member().describe('The member');
  const user = option.user().describe('The member, or the id of a user who is not here');
  const points = z.int().min(1).max(100).optional().describe('How much it counts');
  act('warn', 'Warn a member', { member, points, reason }, ['warn @alice spam', 'warn @alice 3 spam, again']);
  act(
    'timeout',
    'Let a member neither write nor speak for a while',
    { member, duration, reason },
    ['timeout @alice 1h spam'],
    {
      aliases: ['mute'],
    },
  );
  act('untimeout', 'End the time-out of a member', { member, reason }, ['untimeout @alice'], { aliases: ['unmute'] });
  act('kick', 'Remove a member from the server', { member, reason }, ['kick @alice spam']);
  act(
    'ban',
    'Ban a member, or a user who is not here',
    { user, days, reason },
    ['ban @alice 1 spam', 'ban 80351110224678912 raid'],
    {
      aliases: ['hackban'],
    },
  );
  act('tempban', 'Ban a member for a while', { user, duration, days, reason }, ['tempban @alice 7d spam']);
  act(
    'softban',
    'Remove a member together with their latest messages',
    { member, days, reason },
    ['softban @alice 1 spam'],
    {
      help: 'Bans and lifts the ban at once: they can join again.',
    },
  );
  act('unban', 'Lift a ban', { user, reason }, ['unban 80351110224678912']);
}

/** `ban @alice 2d spam` is meant as a temporary ban, but would ban permanently. @throws UserError */
function requireNoDuration(reason = ''): void {
  const [first = ''] = reason.split(/\s/, 1);
  if (!/^\d/.test(first) || parseDuration(first) === undefined || first === '0') return;
  throw new UserError(
    t(
      '`ban` has no end, and {duration} would be a word of the reason. For a while: `tempban`. For good: leave it out.',
      {
        duration: first,
      },
    ),
  );
}

/** The options that an action's command can have. */
const asked = z.object({
  member: z.custom<{ readonly id: string }>().optional(),
  user: z.custom<{ readonly id: string }>().optional(),
  reason: z.string().optional(),
  duration: z.number().optional(),
  points: z.number().optional(),
  days: z.number().optional(),
});

/** Commands for cases. */
export function registerCaseCommands({ command }: ModerationContext, moderator: Moderator): void {
  const who = option.member().optional().describe('The member; by default you');
  command({
    name: 'warnings',
    description: 'Show your warnings, or those of a member',
    access: { where: 'guild' },
    ephemeral: true,
    aliases: ['mywarns'],
    options: { member: who },
    async run(ctx, { member }) {
      const guild = moderator.guildOf(ctx.actor);
      const id = member?.id ?? ctx.user.id;
      if (id !== ctx.user.id) await ctx.requireAccess(MODERATORS);
      await ctx.reply(await moderator.warnings({ guild, id }));
    },
  });
  command({
    name: 'unwarn',
    description: 'Take a warning back',
    access: policyOf(NEEDED.warn),
    audited: true,
    options: { number, reason },
    examples: ['unwarn 12 it was somebody else'],
    run: async (ctx, values) => ctx.reply(await moderator.removeWarning(ctx.actor, values.number, values.reason)),
  });
  command({
    name: 'case',
    reads: true,
    description: 'Show a case',
    access: MODERATORS,
    options: { number },
    run: async (ctx, values) =>
      ctx.reply(caseText(await moderator.caseOf(moderator.guildOf(ctx.actor).id, values.number))),
  });
  command({
    name: 'cases',
    reads: true,
    description: 'List the latest cases, or those about a member',
    access: MODERATORS,
    aliases: ['casesfor', 'listcases'],
    options: { user: option.user().optional().describe('About whom'), page },
    run: async (ctx, values) =>
      ctx.reply(await moderator.list(moderator.guildOf(ctx.actor).id, values.user?.id, values.page)),
  });
  command({
    name: 'reason',
    description: 'Change the reason of a case',
    access: MODERATORS,
    audited: true,
    options: { number, text: option.rest().max(LONGEST_REASON).describe('The new reason') },
    examples: ['reason 12 posted the same link in five channels'],
    run: async (ctx, values) => ctx.reply(await moderator.changeReason(ctx.actor, values.number, values.text)),
  });
}

const PURGING = ['ManageMessages', 'ReadMessageHistory'] as const;

/** Commands for slow mode, locks and purges of a channel. */
export function registerChannelCommands(context: ModerationContext, moderator: Moderator): void {
  const { command, component, services, settings } = context;
  const access: AccessPolicy = { ...MODERATORS, member: PURGING, bot: PURGING };
  const askFirst = createAskFirst({ component, ...services, name: 'purge', access });
  const flag = (text: string) => z.boolean().optional().describe(text);

  command({
    name: 'purge',
    description: 'Delete the latest messages of this channel, all or some of them',
    help: [
      'Filters by name: `from:@alice`, `--bots`, `contains:"free nitro"`, `--links`, `--files`, `before:<link>`, `after:<link>`.',
      'Pinned messages stay unless you add `--pinned`. Messages older than two weeks go one by one, which takes a while.',
    ].join('\n'),
    access,
    audited: true,
    aliases: ['cleanup'],
    options: {
      count: z.int().min(1).max(MOST_PURGED).describe('How many messages at most'),
      from: option.user().optional().describe('Only what this user wrote'),
      bots: flag('Only messages of bots'),
      contains: z.string().min(1).max(200).optional().describe('Only messages with this text'),
      links: flag('Only messages with links'),
      files: flag('Only messages with files'),
      before: z.string().optional().describe('Only older than this message (link or id)'),
      after: z.string().optional().describe('Only newer than this message (link or id)'),
      pinned: flag('Pinned messages, too'),
    },
    examples: ['purge 50', 'purge 100 from:@alice --links'],
    async run(ctx, { count, from, before, after, ...flags }) {
      const channel = await moderator.textChannelOf(ctx.actor);
      await ctx.defer();
      const filter: PurgeFilter = {
        ...flags,
        count,
        from: from?.id,
        // Only messages that are older than the command.
        before: before === undefined ? ctx.message?.id : messageIdIn(before),
        after: after === undefined ? undefined : messageIdIn(after),
      };
      const found = await moderator.findMessages(channel, filter, ctx.message === null);
      const total = found.ids.length;
      if (total === 0) throw new UserError(t('There is no such message among the latest ones of this channel.'));
      const purge = async (show: (text: string) => Promise<void>) => {
        let requests = 0;
        const done = await moderator.purge(ctx.actor, channel.id, found.ids, async (deleted) => {
          requests += 1;
          if (requests % PROGRESS_EVERY === 0) await show(t('Deleting … {deleted} of {total}', { deleted, total }));
        });
        return purgedText(done, found);
      };
      if (total <= (await settings.guild(channel.guild).get()).purgeAskAbove) {
        const show = oneMessage(ctx);
        await show(await purge(show));
        return;
      }
      const what = filterText({ ...filter, before: before === undefined ? undefined : filter.before });
      await askFirst(ctx, {
        content:
          what === ''
            ? t('Delete {total} messages of this channel?', { total })
            : t('Delete {total} messages of this channel ({what})?', { total, what }),
        yes: t('Delete them'),
        run: purge,
      });
    },
  });
  const channel = option.channel().optional().describe('The channel; by default this one');
  const here = async (given: GuildBasedChannel | undefined, actor: Actor): Promise<GuildBasedChannel> =>
    given ?? (await moderator.textChannelOf(actor));
  command({
    name: 'slowmode',
    description: 'Let members write only every so often in a channel',
    access: policyOf('ManageChannels'),
    audited: true,
    options: { interval: option.duration().default(0).describe('How often, such as 10s; 0 for no slow mode'), channel },
    examples: ['slowmode 10s', 'slowmode 0'],
    async run(ctx, values) {
      const where = await here(values.channel, ctx.actor);
      await moderator.channelActs.slowmode(ctx.actor, where, values.interval);
      await ctx.reply(slowmodeText(where.id, values.interval));
    },
  });
  command({
    name: 'lock',
    description: 'Let only moderators write in a channel until it is unlocked',
    access: policyOf('ManageChannels'),
    audited: true,
    options: { channel, reason },
    examples: ['lock', 'lock #general raid'],
    async run(ctx, values) {
      const where = await here(values.channel, ctx.actor);
      await moderator.channelActs.lock(ctx.actor, where, values.reason);
      await ctx.reply(lockedText(where.id));
    },
  });
  command({
    name: 'unlock',
    description: 'Open a locked channel again, as it was before',
    access: policyOf('ManageChannels'),
    audited: true,
    options: { channel, reason },
    async run(ctx, values) {
      const where = await here(values.channel, ctx.actor);
      await moderator.channelActs.unlock(ctx.actor, where, values.reason);
      await ctx.reply(unlockedText(where.id));
    },
  });
}

/** Answers with one message, which is edited from then on. */
function oneMessage(ctx: CommandContext): (text: string) => Promise<void> {
  let message: Message | undefined;
  return async (text) => {
    if (message === undefined) message = await ctx.reply(text);
    else await message.edit({ content: asNotice(text), allowedMentions: { parse: [] } });
  };
}

export function slowmodeText(channelId: string, durationMs: number): string {
  const channel = `<#${channelId}>`;
  return durationMs === 0
    ? t('✓ There is no slow mode in {channel} any more.', { channel })
    : t('✓ In {channel} members can write every {duration}.', { channel, duration: formatDuration(durationMs) });
}
export const lockedText = (channelId: string) =>
  t('✓ {channel} is locked: only moderators can write there. `unlock` opens it again.', { channel: `<#${channelId}>` });
export const unlockedText = (channelId: string) =>
  t('✓ {channel} is open again, as it was before.', { channel: `<#${channelId}>` });
