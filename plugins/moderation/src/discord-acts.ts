import { createKeyedMutex, type ModerationAct, type ModerationCase } from '@cinnabar/sdk';
import { AuditLogEvent, type Guild, type GuildAuditLogsEntry } from 'discord.js';
import type { CaseLog } from './case-log.js';
import type { Cases } from './cases.js';
import { LONGEST_REASON, type ModerationContext } from './settings.js';
import type { TemporaryBans } from './temporary-bans.js';

/** The audit reason of this bot's own actions, which are cases already. */
const OF_A_CASE = /^\[case \d+\]/;
/**
 * The audit reason of an action by another plugin of this bot (see `auditReason`): it names the requester. Their own text follows, and may imitate this form.
 */
const ASKED_BY = /^asked by [^()]{1,40} \((\d{15,21})\)/;
/** Number of handled entries that are remembered, since Discord may send one twice. */
const REMEMBERED = 500;

/** The action of an audit log entry on a member. */
interface Act {
  readonly act: ModerationAct;
  readonly until?: number;
}

function actOf({ action, changes }: GuildAuditLogsEntry): Act | undefined {
  switch (action) {
    case AuditLogEvent.MemberKick:
      return { act: 'kick' };
    case AuditLogEvent.MemberBanAdd:
      return { act: 'ban' };
    case AuditLogEvent.MemberBanRemove:
      return { act: 'unban' };
    case AuditLogEvent.MemberUpdate: {
      const change = changes.find(({ key }) => key === 'communication_disabled_until');
      if (change === undefined) return undefined;
      return typeof change.new === 'string' ? { act: 'timeout', until: Date.parse(change.new) } : { act: 'untimeout' };
    }
    case AuditLogEvent.AutoModerationUserCommunicationDisabled:
      return { act: 'timeout' };
    default:
      return undefined;
  }
}

/** The moderator or rule that caused an entry. */
function authorOf(
  { action, executorId, reason }: GuildAuditLogsEntry,
  botId: string | undefined,
): Pick<ModerationCase, 'origin' | 'moderatorId'> {
  if (action === AuditLogEvent.AutoModerationUserCommunicationDisabled) return { origin: 'rule' };
  const own = executorId === botId;
  const moderatorId = own ? ASKED_BY.exec(reason ?? '')?.[1] : (executorId ?? undefined);
  return { origin: own ? 'bot' : 'discord', ...(moderatorId === undefined ? {} : { moderatorId }) };
}

/** Records cases for actions of moderators and other bots in Discord itself. */
export function recordDiscordActs(
  { on, settings, services, client }: ModerationContext,
  cases: Cases,
  caseLog: CaseLog,
  temporaryBans: TemporaryBans,
): void {
  const seen = new Set<string>();
  const mutex = createKeyedMutex();

  const draftOf = async (
    entry: GuildAuditLogsEntry,
    userId: string,
    act: Act,
  ): Promise<Omit<ModerationCase, 'number'>> => {
    const user = await client.users.fetch(userId).catch(() => undefined);
    const reason = (entry.reason ?? '').slice(0, LONGEST_REASON);
    return {
      ...act,
      ...authorOf(entry, client.user?.id),
      state: 'done',
      userId,
      at: services.clock.now(),
      entryId: entry.id,
      ...(user === undefined ? {} : { userName: user.username }),
      ...(reason === '' ? {} : { reason }),
    };
  };

  const record = async (entry: GuildAuditLogsEntry, guild: Guild, act: Act) => {
    const { targetId: userId, executorId, reason } = entry;
    if (userId === null || (executorId === client.user?.id && OF_A_CASE.test(reason ?? ''))) return;
    if (act.act === 'unban') await endTemporaryBan(guild.id, userId);
    if (!(await settings.guild(guild).get()).recordDiscordActs) return;
    // After a crash, Discord repeats events since the last acknowledged one.
    if ((await cases.ofMember(guild.id, userId)).some(({ entryId }) => entryId === entry.id)) return;
    const one = await cases.open(guild.id, await draftOf(entry, userId, act));
    if ((await caseLog.publish(guild.id, one)) !== 'later') await cases.close(guild.id, one.number);
  };

  const endTemporaryBan = async (guildId: string, userId: string) => {
    const over = temporaryBans.of(guildId, userId);
    if (over !== undefined) await temporaryBans.end(guildId, over.number);
  };

  on('guildAuditLogEntryCreate', async (entry, guild) => {
    const act = actOf(entry);
    if (act === undefined || seen.has(entry.id)) return;
    seen.add(entry.id);
    for (const [oldest] of seen.entries()) {
      if (seen.size <= REMEMBERED) break;
      seen.delete(oldest);
    }
    await mutex.run(guild.id, () => record(entry, guild, act));
  });
  // Without access to the audit log, only this event shows that a moderator lifted a temporary ban.
  on('guildBanRemove', ({ guild, user }) => endTemporaryBan(guild.id, user.id));
}
