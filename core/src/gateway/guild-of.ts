import { type ClientEvents, Collection, Guild } from 'discord.js';

/** Events whose first argument does not tell the guild, and which one does. */
const TELLING_ARGUMENT: { readonly [K in keyof ClientEvents]?: number } = {
  messageDeleteBulk: 1,
  threadMembersUpdate: 2,
  presenceUpdate: 1,
  guildAuditLogEntryCreate: 1,
};

/** The guild that an event happened in; `null` for direct messages and for events of no guild. */
export function guildIdOf(event: keyof ClientEvents, args: readonly unknown[]): string | null {
  return guildIdOfValue(args[TELLING_ARGUMENT[event] ?? 0]);
}

function guildIdOfValue(value: unknown): string | null {
  if (typeof value !== 'object' || value === null) return null;
  if (value instanceof Guild) return value.id;
  if (value instanceof Collection) return guildIdOfValue(value.first());
  if ('guildId' in value && typeof value.guildId === 'string') return value.guildId;
  if ('guild' in value) return guildIdOfValue(value.guild);
  if ('message' in value) return guildIdOfValue(value.message);
  return null;
}
