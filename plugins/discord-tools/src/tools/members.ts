import {
  auditReason,
  nameText,
  ranksIn,
  requireAboveMember,
  type ToolDefinition,
  t,
  UserError,
  z,
} from '@cinnabar/sdk';
import type { GuildMember } from 'discord.js';
import { guildField, readId, reasonField, userField } from '../arguments.js';
import { discordTool } from '../discord-tool.js';
import { guildOf, guildPlace, listingMembers, memberInSentence, memberOf } from '../places.js';
import type { Caller, Context } from '../settings.js';

/** Discord's limit: 28 days. */
const MAX_TIMEOUT_S = 28 * 24 * 60 * 60;
const MODERATING = ['ModerateMembers'] as const;

export function memberTools(context: Context): readonly ToolDefinition[] {
  const { client, clock } = context;
  return [
    discordTool({
      name: 'discord_list_members',
      description: 'List the members of a server with their roles, in the order of their ids.',
      input: z.object({
        guildId: guildField,
        limit: z.number().int().min(1).max(1000).default(100).describe('How many, at most 1,000'),
        after: z.string().max(30).optional().describe('Go on after this member: their user id'),
      }),
      risk: 'read',
      place: ({ guildId }) => guildPlace(guildId),
      examples: ['who is in server {guildId}?', 'list the members of server {guildId}'],
      async run({ guildId, limit, after }) {
        const guild = guildOf(client, guildId);
        const range = after === undefined ? {} : { after: readId(after, 'user') };
        const found = [...(await listingMembers(guild.members.list({ limit, cache: false, ...range }))).values()];
        const last = found.at(-1);
        return {
          members: found.map((member) => viewMember(member, clock.now())),
          // The page is full, so there may be more members after this one.
          next: found.length === limit ? last?.id : undefined,
        };
      },
      present: {
        sentence: () => t("I'll list the members of this server"),
        action: 'List members',
        success: (_, { members, next }) =>
          [
            ...members.map(memberText),
            ...(next === undefined ? [] : [t('There may be more: after {next}.', { next })]),
          ].join('\n'),
      },
    }),
    discordTool({
      name: 'discord_get_member',
      description: 'Show a member of a server: names, roles, when they joined, whether they are in time-out.',
      input: z.object({ guildId: guildField, userId: userField }),
      risk: 'read',
      place: ({ guildId }) => guildPlace(guildId),
      examples: ['who is {userId} in server {guildId}?', 'which roles does {userId} have in server {guildId}?'],
      async run({ guildId, userId }) {
        return viewMember(await memberOf(guildOf(client, guildId), userId), clock.now());
      },
      sources: ({ id }, { guildId }) => [{ ...guildPlace(guildId), userIds: [id] }],
      present: {
        sentence: () => t("I'll look up a member"),
        action: 'Show member',
        success: (_, member) => memberText(member),
      },
    }),
    discordTool({
      name: 'discord_timeout_member',
      description: 'Put a member in time-out: until it ends they can read, but neither write nor speak.',
      input: z.object({
        guildId: guildField,
        userId: userField,
        seconds: z.number().int().min(1).max(MAX_TIMEOUT_S).describe('How long, in seconds; at most 28 days'),
        reason: reasonField,
      }),
      risk: 'destructive',
      permissions: MODERATING,
      place: ({ guildId }) => guildPlace(guildId),
      examples: ['put {userId} in time-out for {seconds} seconds in server {guildId}'],
      run({ guildId, userId, seconds, reason }, call) {
        const until = clock.now() + seconds * 1000;
        return setTimeOut(context, call, { guildId, userId, until, reason });
      },
      present: {
        sentence: ({ guildId, userId, seconds }) =>
          t("I'll put {member} in time-out for {seconds} seconds", {
            member: memberInSentence(client, guildId, userId),
            seconds,
          }),
        said: ['seconds'],
        action: 'Time out member',
        success: (_, { member, until }) =>
          t('✓ {name} is in time-out until {until}.', { name: nameText(member), until: String(until) }),
        cancelled: () => t('Cancelled the time-out.'),
      },
    }),
    discordTool({
      name: 'discord_remove_timeout',
      description: 'End the time-out of a member before its time.',
      input: z.object({ guildId: guildField, userId: userField, reason: reasonField }),
      risk: 'write',
      idempotent: true,
      permissions: MODERATING,
      place: ({ guildId }) => guildPlace(guildId),
      examples: ['end the time-out of {userId} in server {guildId}'],
      run: ({ guildId, userId, reason }, call) => setTimeOut(context, call, { guildId, userId, until: null, reason }),
      present: {
        sentence: ({ guildId, userId }) =>
          t("I'll end the time-out of {member}", {
            member: memberInSentence(client, guildId, userId),
          }),
        action: 'End time-out',
        success: (_, { member }) => t('✓ {name} is not in time-out any more.', { name: nameText(member) }),
        cancelled: () => t('Cancelled: the time-out continues.'),
      },
    }),
  ];
}

interface TimedOut {
  readonly member: string;
  /** ISO 8601; `null`: the time-out was ended. */
  readonly until: string | null;
}

interface TimeOut {
  readonly guildId: string;
  readonly userId: string;
  /** In ms since the Unix epoch; `null` to end the time-out. */
  readonly until: number | null;
  readonly reason: string | undefined;
}

/** Sets the end of a member's time-out; `null` ends it now. @throws UserError */
async function setTimeOut(
  context: Context,
  caller: Caller,
  { guildId, userId, until, reason }: TimeOut,
): Promise<TimedOut> {
  const guild = guildOf(context.client, guildId);
  const member = await memberOf(guild, userId);
  requireAboveMember(await ranksIn(guild, caller.actor), member);
  if (until !== null && member.permissions.has('Administrator')) {
    throw new UserError(
      t('{name} is an administrator: Discord does not put those in time-out.', {
        name: nameText(member.displayName),
      }),
    );
  }
  await member.disableCommunicationUntil(until, auditReason(context.client, caller.actor, reason));
  return { member: member.displayName, until: until === null ? null : new Date(until).toISOString() };
}

interface MemberView {
  readonly id: string;
  readonly username: string;
  readonly displayName: string;
  readonly bot: boolean;
  readonly joinedAt: string | null;
  /** Highest first. */
  readonly roles: readonly { readonly id: string; readonly name: string }[];
  /** The end of the member's time-out, ISO 8601. */
  readonly timedOutUntil?: string;
}

function viewMember(member: GuildMember, now: number): MemberView {
  const until = member.communicationDisabledUntilTimestamp ?? 0;
  return {
    id: member.id,
    username: member.user.username,
    displayName: member.displayName,
    bot: member.user.bot,
    joinedAt: member.joinedAt?.toISOString() ?? null,
    roles: [...member.roles.cache.values()]
      .filter(({ id }) => id !== member.guild.id)
      .sort((one, other) => other.comparePositionTo(one))
      .map(({ id, name }) => ({ id, name })),
    ...(until > now ? { timedOutUntil: new Date(until).toISOString() } : {}),
  };
}

function memberText({ id, username, displayName, bot, joinedAt, roles, timedOutUntil }: MemberView): string {
  const facts = [
    t('{name} ({kind, select, bot {bot} other {user}} {id}, @{username})', {
      name: nameText(displayName),
      kind: bot ? 'bot' : 'user',
      id,
      username: nameText(username),
    }),
    ...(joinedAt === null ? [] : [t('joined {joinedAt}', { joinedAt })]),
    ...(roles.length === 0
      ? []
      : [t('roles {roles}', { roles: roles.map((role) => `${nameText(role.name)} (${role.id})`).join(', ') })]),
    ...(timedOutUntil === undefined ? [] : [t('in time-out until {timedOutUntil}', { timedOutUntil })]),
  ];
  return facts.join(' · ');
}
