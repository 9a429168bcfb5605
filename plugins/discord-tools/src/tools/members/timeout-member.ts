import { type ToolDefinition, UserError, z } from '@cinnabar/sdk';
import type { Parts } from '../../parts.js';
import { guildField, reasonField, userField } from '../../reaching/fields.js';
import { guildOf, memberOf } from '../../reaching/guilds.js';
import { guildPlace } from '../../reaching/places.js';
import { ranksIn, requireAboveMember } from '../../reaching/rank.js';
import { auditReason } from '../../reaching/reason.js';
import { memberInSentence, nameText } from '../../reading/names.js';

/** Discord's limit: 28 days. */
const LONGEST_S = 28 * 24 * 60 * 60;
const MODERATING = ['ModerateMembers'] as const;

const input = z.object({
  guildId: guildField,
  userId: userField,
  seconds: z.number().int().min(1).max(LONGEST_S).describe('How long, in seconds; at most 28 days'),
  reason: reasonField,
});
const lifting = input.omit({ seconds: true });

interface TimedOut {
  readonly member: string;
  /** ISO 8601; `null`: not any more. */
  readonly until: string | null;
}

export function timeoutMember(parts: Parts): ToolDefinition<typeof input, TimedOut> {
  const tool = 'discord_timeout_member';
  return {
    name: tool,
    description: 'Put a member in time-out: until it ends they can read, but neither write nor speak.',
    input,
    risk: 'destructive',
    access: { member: MODERATING, bot: MODERATING },
    place: ({ guildId }) => guildPlace(guildId),
    examples: ['put {userId} in time-out for {seconds} seconds in server {guildId}'],
    present: {
      sentence: ({ guildId, userId, seconds }) =>
        `I'll put ${memberInSentence(parts.client, guildId, userId)} in time-out for ${seconds} seconds`,
      said: ['seconds'],
      action: 'Time out member',
      success: (_, { member, until }) => `✓ ${nameText(member)} is in time-out until ${until}.`,
      cancelled: () => 'Cancelled the time-out.',
    },
    run({ guildId, userId, seconds, reason }, { actor }) {
      const until = parts.clock.now() + seconds * 1000;
      return setTimeOut(parts, { actor, tool }, { guildId, userId, until, reason });
    },
  };
}

export function removeTimeout(parts: Parts): ToolDefinition<typeof lifting, TimedOut> {
  const tool = 'discord_remove_timeout';
  return {
    name: tool,
    description: 'End the time-out of a member before its time.',
    input: lifting,
    risk: 'write',
    idempotent: true,
    access: { member: MODERATING, bot: MODERATING },
    place: ({ guildId }) => guildPlace(guildId),
    examples: ['end the time-out of {userId} in server {guildId}'],
    present: {
      sentence: ({ guildId, userId }) => `I'll end the time-out of ${memberInSentence(parts.client, guildId, userId)}`,
      action: 'End time-out',
      success: (_, { member }) => `✓ ${nameText(member)} is not in time-out any more.`,
      cancelled: () => 'Cancelled: the time-out goes on.',
    },
    run: ({ guildId, userId, reason }, { actor }) =>
      setTimeOut(parts, { actor, tool }, { guildId, userId, until: null, reason }),
  };
}

interface TimeOut {
  readonly guildId: string;
  readonly userId: string;
  /** Milliseconds since 1970. */
  readonly until: number | null;
  readonly reason: string | undefined;
}

async function setTimeOut(
  parts: Parts,
  caller: Parameters<typeof auditReason>[1],
  { guildId, userId, until, reason }: TimeOut,
): Promise<TimedOut> {
  const guild = guildOf(parts.client, guildId);
  const member = await memberOf(guild, userId);
  requireAboveMember(await ranksIn(guild, caller.actor), member);
  if (until !== null && member.permissions.has('Administrator')) {
    throw new UserError(`${nameText(member.displayName)} is an administrator: Discord does not put those in time-out.`);
  }
  await member.disableCommunicationUntil(until, auditReason(parts, caller, reason));
  return { member: member.displayName, until: until === null ? null : new Date(until).toISOString() };
}
