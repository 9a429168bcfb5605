import { GatewayIntentBits } from 'discord-api-types/v10';
import { memberPayload } from '../payload/member.js';
import type { LocalMember } from '../state/member.js';
import type { World } from '../state/world.js';
import type { RequestMembersData } from './read-command.js';
import type { GatewaySession } from './session.js';

const CHUNK = 1_000;

/** Op 8: GUILD_MEMBERS_CHUNK, a thousand at a time. The whole list needs the GuildMembers intent; without it Discord stays silent. */
export function sendMemberChunks(world: World, session: GatewaySession, request: RequestMembersData): void {
  const guild = world.guilds.get(request.guild_id);
  if (!guild?.members.has(session.application.id)) return;
  const everybody = request.user_ids === undefined && (request.query ?? '') === '' && !request.limit;
  if (everybody && !(session.intents & GatewayIntentBits.GuildMembers)) return;
  const found = request.user_ids
    ? request.user_ids.flatMap((id) => guild.members.get(id) ?? [])
    : byName([...guild.members.values()], request.query ?? '', request.limit ?? 0);
  const missing = (request.user_ids ?? []).filter((id) => !guild.members.has(id));
  const count = Math.max(1, Math.ceil(found.length / CHUNK));
  for (let index = 0; index < count; index += 1) {
    const payload = {
      guild_id: guild.id,
      members: found.slice(index * CHUNK, (index + 1) * CHUNK).map(memberPayload),
      chunk_index: index,
      chunk_count: count,
      ...(missing.length > 0 ? { not_found: missing } : {}),
      ...(request.nonce === undefined ? {} : { nonce: request.nonce }),
    };
    session.dispatch('GUILD_MEMBERS_CHUNK', JSON.stringify(payload));
  }
}

/** Members whose name or nickname begins with the text; `limit` 0 is all. */
export function byName(members: readonly LocalMember[], query: string, limit: number): LocalMember[] {
  const start = query.toLowerCase();
  const found = members.filter(({ user, nick }) =>
    [user.username, user.globalName, nick].some((name) => name?.toLowerCase().startsWith(start)),
  );
  return limit > 0 ? found.slice(0, limit) : found;
}
