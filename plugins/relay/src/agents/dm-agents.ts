import { t, z } from '@cinnabar/sdk';
import type { RelayContext, RelayStores } from '../context.js';
import { directIdentity, directKey } from './permissions.js';

/** What is stored of a person's direct messages. */
export const directs = {
  scope: 'user',
  version: 1,
  shared: true,
  schema: z.object({
    /** Their own agent, assigned by the owner of the bot. */
    agentId: z.string().optional(),
    /** Whether they have been asked for their consent. */
    asked: z.boolean().default(false),
  }),
} as const;
export type DmAgents = ReturnType<typeof createDmAgents>;

/** Which agent answers the direct messages of a person: their own, or the shared one. */
export function createDmAgents({ collections: { directs: stored }, settings }: RelayContext) {
  return {
    /** @returns the agent with the key by which events name it; `undefined` when there is none */
    async agentOf(userId: string) {
      const { agentId } = await stored.of(userId).get();
      if (agentId !== undefined) return { agentId, key: directKey(userId), identity: directIdentity(userId) };
      const { dmAgent } = await settings.global.get();
      if (dmAgent === undefined) return undefined;
      return { agentId: dmAgent, key: directKey(undefined), identity: directIdentity(undefined) };
    },
    /** Gives a person an agent of their own, or with `undefined` takes it back. */
    async assign(userId: string, agentId: string | undefined): Promise<void> {
      await stored.of(userId).update((draft) => {
        if (agentId === undefined) delete draft.agentId;
        else draft.agentId = agentId;
      });
    },
    /** Notes that a person is asked for consent. @returns `true` the first time */
    async noteAsked(userId: string): Promise<boolean> {
      let first = false;
      await stored.of(userId).update((draft) => {
        first = !draft.asked;
        draft.asked = true;
      });
      return first;
    },
    /** Whose own agent it is. */
    async ownerOf(agentId: string): Promise<string | undefined> {
      for await (const [userId, direct] of stored.entries()) if (direct.agentId === agentId) return userId;
      return undefined;
    },
  };
}

/**
 * The home that an agent has already. It has one home only: what it learns in a server must not be told in another, nor what it learns in direct
 * messages.
 * @returns a clause for people, `undefined` when it has none
 */
export async function homeOf(
  agentId: string,
  { rosters, dmAgents, settings }: RelayStores,
  except: { readonly guildId: string; readonly key: string } | undefined,
): Promise<string | undefined> {
  for (const [guildId, { agents }] of rosters.all()) {
    for (const [key, agent] of Object.entries(agents)) {
      if (agent.agentId !== agentId || (guildId === except?.guildId && key === except.key)) continue;
      return guildId === except?.guildId
        ? t('This agent lives here already, as `{agent}`.', { agent: agent.name })
        : t('This agent lives in another server.');
    }
  }
  if ((await settings.global.get()).dmAgent === agentId) return t('This agent answers direct messages.');
  return (await dmAgents.ownerOf(agentId)) === undefined
    ? undefined
    : t("This agent answers somebody's direct messages.");
}
