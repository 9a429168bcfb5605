import { isForbidden, isUnknown, type ModerationAct, type ModerationCase, unlessUnreachable } from '@cinnabar/sdk';
import { AuditLogEvent, type Guild } from 'discord.js';

/** Identifies the audit log entry, and the ban, of a case. */
export const caseTag = (number: number) => `[case ${number}]`;

/** The ban of a user; `undefined` when there is none. */
export async function banOf(guild: Guild, userId: string) {
  return unlessUnknown(guild.bans.fetch({ user: userId, force: true, cache: false }));
}

/** Lifts a ban, whether or not it has been lifted already. */
export async function liftBan(guild: Guild, userId: string, reason: string): Promise<void> {
  await unlessUnknown(guild.bans.remove(userId, reason));
}

async function unlessUnknown<T>(request: Promise<T>): Promise<T | undefined> {
  try {
    return await request;
  } catch (error) {
    if (isUnknown(error)) return undefined;
    throw error;
  }
}

/** The result of an action whose outcome was not recorded, according to Discord. */
export type Evidence = 'done' | 'not done' | 'unclear';

const ENTRIES: { readonly [K in ModerationAct]?: AuditLogEvent } = {
  timeout: AuditLogEvent.MemberUpdate,
  untimeout: AuditLogEvent.MemberUpdate,
  kick: AuditLogEvent.MemberKick,
  ban: AuditLogEvent.MemberBanAdd,
  tempban: AuditLogEvent.MemberBanAdd,
  softban: AuditLogEvent.MemberBanAdd,
  unban: AuditLogEvent.MemberBanRemove,
};
/** Tolerance for the end of a time-out, whose milliseconds Discord sometimes drops. */
const CLOSE_MS = 2_000;

/**
 * Whether the action of a case was carried out, from the current state at Discord and its audit log, if the bot may read that. A softban without its second
 * step is completed: that lifts a ban, and bans no one.
 */
export async function evidenceOf(guild: Guild, one: ModerationCase, now: number): Promise<Evidence> {
  const { act, userId, number, at } = one;
  if (act === 'warn') return 'done';
  if (userId === undefined) return 'unclear';
  if (act === 'unban') return (await banOf(guild, userId)) === undefined ? 'done' : 'not done';
  const entry = await hasEntry(guild, act, number);
  if (act === 'ban' || act === 'tempban' || act === 'softban') return evidenceOfBan(guild, one, userId, entry);
  if (entry === true) return 'done';
  return act === 'kick' ? stillThere(guild, userId, at) : evidenceOfTimeout(guild, one, userId, entry, now);
}

async function evidenceOfBan(
  guild: Guild,
  { act, number, at }: ModerationCase,
  userId: string,
  entry: boolean | undefined,
): Promise<Evidence> {
  const ban = await banOf(guild, userId);
  const isOwn = ban?.reason?.startsWith(caseTag(number)) === true;
  if (act === 'softban' && isOwn) await liftBan(guild, userId, caseTag(number));
  if (isOwn || entry === true) return 'done';
  if (ban !== undefined) return 'unclear';
  // Without the audit log, a ban that was lifted meanwhile looks like no ban; for a softban that is the normal end.
  return entry === undefined && act === 'softban' ? stillThere(guild, userId, at) : 'not done';
}

async function evidenceOfTimeout(
  guild: Guild,
  { act, until = 0 }: ModerationCase,
  userId: string,
  entry: boolean | undefined,
  now: number,
): Promise<Evidence> {
  const member = await unlessUnreachable(guild.members.fetch({ user: userId, force: true }));
  const end = member?.communicationDisabledUntilTimestamp ?? 0;
  if (act === 'untimeout') return end > now ? 'not done' : 'done';
  if (member === undefined || until <= now) return entry === false ? 'not done' : 'unclear';
  return Math.abs(end - until) <= CLOSE_MS ? 'done' : 'not done';
}

/** Whether a member was removed: not if they joined before the case; an absent member may also have left by themselves. */
async function stillThere(guild: Guild, userId: string, at: number): Promise<Evidence> {
  const member = await unlessUnreachable(guild.members.fetch({ user: userId, force: true }));
  return member !== undefined && (member.joinedTimestamp ?? 0) < at ? 'not done' : 'unclear';
}

/** Whether the audit log has the entry of a case; `undefined` where the bot may not read it. */
async function hasEntry(guild: Guild, act: ModerationAct, number: number): Promise<boolean | undefined> {
  const type = ENTRIES[act];
  if (type === undefined) return undefined;
  try {
    const { entries } = await guild.fetchAuditLogs({ type, limit: 100, user: guild.client.user.id });
    return entries.some(({ reason }) => reason?.startsWith(caseTag(number)) === true);
  } catch (error) {
    if (isForbidden(error)) return undefined;
    throw error;
  }
}
