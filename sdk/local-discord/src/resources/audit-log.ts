import type { APIAuditLogEntry, AuditLogEvent } from 'discord-api-types/v10';
import { broadcast } from '../gateway/dispatch.js';
import { userPayload } from '../payload/users.js';
import { numberIn, route } from '../rest/request.js';
import { requireInGuild } from '../rules/permissions.js';
import { compareIds } from '../snowflakes.js';
import type { LocalAuditLogEntry, LocalGuild } from '../state/guilds.js';
import type { LocalUser } from '../state/users.js';
import type { World } from '../world.js';
import { guildOf } from './find.js';

/** Above this number the oldest are deleted; Discord deletes by age (45 days). */
const KEPT = 1_000;

/** Records an action of an account, and sends it to the bots that may read the audit log. */
export function recordAct(
  world: World,
  guild: LocalGuild,
  by: LocalUser,
  action: AuditLogEvent,
  act: Pick<LocalAuditLogEntry, 'targetId' | 'reason'> & Partial<Pick<LocalAuditLogEntry, 'changes' | 'options'>>,
): void {
  const entry: LocalAuditLogEntry = {
    id: world.nextId(),
    action,
    by,
    targetId: act.targetId,
    reason: act.reason,
    changes: act.changes ?? [],
    options: act.options,
  };
  guild.auditLog.push(entry);
  if (guild.auditLog.length > KEPT) guild.auditLog.shift();
  const payload = { ...auditLogEntryPayload(entry), guild_id: guild.id };
  broadcast(world, 'GUILD_AUDIT_LOG_ENTRY_CREATE', { guild, permission: 'ViewAuditLog' }, payload);
}

function auditLogEntryPayload({
  id,
  action,
  by,
  targetId,
  reason,
  changes,
  options,
}: LocalAuditLogEntry): APIAuditLogEntry {
  return {
    id,
    action_type: action,
    user_id: by.id,
    target_id: targetId,
    ...(changes.length === 0 ? {} : { changes: [...changes] }),
    ...(options === undefined ? {} : { options }),
    ...(reason === undefined ? {} : { reason }),
  };
}

export const auditLogRoutes = [
  route('GET', '/guilds/:guildId/audit-logs', (context) => {
    const guild = guildOf(context);
    requireInGuild(guild, context.user, context.world.clock.now(), 'ViewAuditLog');
    const { query } = context;
    const [userId, action, before, after] = ['user_id', 'action_type', 'before', 'after'].map((name) =>
      query.get(name),
    );
    const found = guild.auditLog
      .filter((entry) => userId === null || entry.by.id === userId)
      .filter((entry) => action === null || entry.action === Number(action))
      .filter((entry) => before == null || compareIds(entry.id, before) < 0)
      .filter((entry) => after == null || compareIds(entry.id, after) > 0);
    // Newest first; with `after`, oldest first.
    const sorted = after == null ? found.reverse() : found;
    const entries = sorted.slice(0, numberIn(query, 'limit', 1, 100, 50));
    const ids = new Set(entries.flatMap(({ by, targetId }) => [by.id, targetId ?? '']));
    const users = [...ids].flatMap((id) => context.world.users.get(id) ?? []);
    return {
      audit_log_entries: entries.map(auditLogEntryPayload),
      users: users.map(userPayload),
      application_commands: [],
      auto_moderation_rules: [],
      guild_scheduled_events: [],
      integrations: [],
      threads: [],
      webhooks: [],
    };
  }),
];
