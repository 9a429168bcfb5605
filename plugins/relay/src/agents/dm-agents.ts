import { type Collection, z } from '@cinnabar/sdk';
import type { RelaySettings } from '../settings.js';
import { directIdentity, directKey } from './grants.js';
import type { Rosters } from './roster.js';

/** One person's direct messages. */
export const directs = {
  scope: 'user',
  version: 1,
  schema: z.object({
    /** Their own agent, which the owner of the bot has given them. */
    agentId: z.string().optional(),
    /** Whether they have been asked if an agent may read what they write. */
    asked: z.boolean().default(false),
  }),
} as const;
type Direct = z.output<typeof directs.schema>;

interface DirectAgent {
  readonly agentId: string;
  /** The key by which events name it. */
  readonly key: string;
  readonly identity: string;
}

export interface Directs {
  /** Who answers somebody's direct messages; `undefined`: nobody does. */
  agentOf(userId: string): Promise<DirectAgent | undefined>;
  /** Gives somebody an agent of their own, or takes it back. */
  give(userId: string, agentId: string | undefined): Promise<void>;
  /** `true` the first time. */
  ask(userId: string): Promise<boolean>;
  /** Whose own agent it is. */
  ownerOf(agentId: string): Promise<string | undefined>;
}

export function createDirects(kept: Collection<Direct, 'user'>, settings: RelaySettings): Directs {
  return {
    async agentOf(userId) {
      const { agentId } = await kept.of(userId).get();
      if (agentId !== undefined) return { agentId, key: directKey(userId), identity: directIdentity(userId) };
      const { dmAgent } = await settings.global.get();
      return dmAgent === undefined
        ? undefined
        : { agentId: dmAgent, key: directKey(undefined), identity: directIdentity(undefined) };
    },
    async give(userId, agentId) {
      await kept.of(userId).update((draft) => {
        if (agentId === undefined) delete draft.agentId;
        else draft.agentId = agentId;
      });
    },
    async ask(userId) {
      let first = false;
      await kept.of(userId).update((draft) => {
        first = !draft.asked;
        draft.asked = true;
      });
      return first;
    },
    async ownerOf(agentId) {
      for await (const [userId, direct] of kept.entries()) if (direct.agentId === agentId) return userId;
      return undefined;
    },
  };
}

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
