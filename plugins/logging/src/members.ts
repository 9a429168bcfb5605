import { t } from '@cinnabar/sdk';
import { AuditLogEvent, type Guild, type GuildMember, type PartialGuildMember } from 'discord.js';
import type { EventLog } from './event-log.js';
import type { LoggingContext } from './settings.js';
import { personText, quoted } from './text.js';

const ago = (at: number) => `<t:${Math.floor(at / 1_000)}:R>`;
const mentions = (ids: readonly string[]) => ids.map((id) => `<@&${id}>`).join(', ');

/** What of a member has changed. */
interface Change {
  readonly userId: string;
  readonly added: readonly string[];
  readonly removed: readonly string[];
  /** The nickname before and now; `null` for none. */
  readonly nickname?: { readonly before: string | null; readonly now: string | null };
  readonly by: string | null;
  readonly reason: string | null;
}

/** Logs who comes and goes, and whose roles and nicknames change. */
export function logMembers({ on, client }: LoggingContext, eventLog: EventLog): void {
  on('guildMemberAdd', async ({ guild, user }) => {
    const place = await eventLog.placeOf(guild, 'joins');
    await eventLog.speaking(guild, () =>
      place?.add({
        text: t('📥 {who} joined. The account was created {when}.', {
          who: personText(user),
          when: ago(user.createdTimestamp),
        }),
      }),
    );
  });
  on('guildMemberRemove', async ({ guild, user, joinedTimestamp, roles }) => {
    const place = await eventLog.placeOf(guild, 'joins');
    await eventLog.speaking(guild, () => {
      const held = roles.cache.filter(({ id }) => id !== guild.id).map(({ id }) => id);
      const since = joinedTimestamp === null ? '' : ` ${t('They joined {when}.', { when: ago(joinedTimestamp) })}`;
      const had = held.length === 0 ? '' : ` ${t('Roles: {roles}', { roles: mentions(held) })}`;
      place?.add({ text: `${t('📤 {who} left.', { who: personText(user) })}${since}${had}` });
    });
  });

  const write = async (guild: Guild, change: Change) => {
    const place = await eventLog.placeOf(guild, 'memberChanges');
    if (place === undefined) return;
    const user = await client.users.fetch(change.userId).catch(() => undefined);
    await eventLog.speaking(guild, () => {
      const who = user === undefined ? `<@${change.userId}>` : personText(user);
      for (const text of changeTexts(change, who)) place.add({ text });
    });
  };

  // The audit log says who did it, and needs no privileged intent; without the right to read it, the members themselves tell.
  on('guildAuditLogEntryCreate', async ({ action, targetId, executorId, reason, changes }, guild) => {
    if (targetId === null) return;
    const of = { userId: targetId, by: executorId, reason };
    if (action === AuditLogEvent.MemberRoleUpdate) {
      const ids = (key: string) => changes.filter((one) => one.key === key).flatMap((one) => idsIn(one.new));
      await write(guild, { ...of, added: ids('$add'), removed: ids('$remove') });
    }
    const nick = action === AuditLogEvent.MemberUpdate ? changes.find(({ key }) => key === 'nick') : undefined;
    if (nick === undefined) return;
    await write(guild, {
      ...of,
      added: [],
      removed: [],
      nickname: { before: textIn(nick.old), now: textIn(nick.new) },
    });
  });
  on('guildMemberUpdate', async (before, now) => {
    if (before.partial || now.guild.members.me?.permissions.has('ViewAuditLog') === true) return;
    const change = changeOf(before, now);
    if (change !== undefined) await write(now.guild, change);
  });
}

function changeOf(before: GuildMember | PartialGuildMember, now: GuildMember): Change | undefined {
  const [old, current] = [[...before.roles.cache.keys()], [...now.roles.cache.keys()]];
  const added = current.filter((id) => !old.includes(id));
  const removed = old.filter((id) => !current.includes(id));
  const isRenamed = before.nickname !== now.nickname;
  if (added.length === 0 && removed.length === 0 && !isRenamed) return undefined;
  return {
    userId: now.id,
    added,
    removed,
    ...(isRenamed ? { nickname: { before: before.nickname, now: now.nickname } } : {}),
    by: null,
    reason: null,
  };
}

function changeTexts({ userId, added, removed, nickname, by, reason }: Change, who: string): readonly string[] {
  const author = by === null || by === userId ? '' : ` ${t('by {who}', { who: `<@${by}>` })}`;
  const end = `${author}${reason === null ? '' : ` (${quoted(reason, 150)})`}`;
  const name = (text: string | null) => (text === null ? t('no nickname') : quoted(text, 40));
  return [
    ...(added.length === 0 ? [] : [`${t('🏷️ {who} got {roles}', { who, roles: mentions(added) })}${end}`]),
    ...(removed.length === 0 ? [] : [`${t('🏷️ {who} lost {roles}', { who, roles: mentions(removed) })}${end}`]),
    ...(nickname === undefined
      ? []
      : [
          `${t('📝 The nickname of {who}: {before} → {now}', { who, before: name(nickname.before), now: name(nickname.now) })}${end}`,
        ]),
  ];
}

/** The ids of the roles that a change of the audit log lists. */
function idsIn(value: unknown): readonly string[] {
  if (!Array.isArray(value)) return [];
  return value.flatMap((one: unknown) =>
    typeof one === 'object' && one !== null && 'id' in one && typeof one.id === 'string' ? [one.id] : [],
  );
}

const textIn = (value: unknown): string | null => (typeof value === 'string' ? value : null);
