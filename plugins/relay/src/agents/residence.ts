import type { RelaySettings } from '../settings.js';
import type { Directs } from './directs.js';
import type { Rosters } from './roster.js';

/**
 * Where an agent lives already. It lives in one place: what it learns in a server is told in no other one, nor out of a direct message.
 * @returns a clause for people, `undefined` when it is free
 */
export async function residenceOf(
  agentId: string,
  {
    rosters,
    directs,
    settings,
  }: { readonly rosters: Rosters; readonly directs: Directs; readonly settings: RelaySettings },
  except: { readonly guildId: string; readonly key: string } | undefined,
): Promise<string | undefined> {
  for (const [guildId, { agents }] of rosters.all()) {
    for (const [key, agent] of Object.entries(agents)) {
      if (agent.agentId !== agentId || (guildId === except?.guildId && key === except.key)) continue;
      return guildId === except?.guildId ? `lives here already, as \`${agent.name}\`` : 'lives in another server';
    }
  }
  if ((await settings.global.get()).dmAgent === agentId) return 'answers direct messages';
  return (await directs.ownerOf(agentId)) === undefined ? undefined : "answers somebody's direct messages";
}
