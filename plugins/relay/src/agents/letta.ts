import type { Logger } from '@cinnabar/sdk';
import type { Agents } from '../letta/types.js';
import type { RelaySettings } from '../settings.js';

/** The Letta server that the settings, or else the environment, name. */
export interface Letta {
  /** Its agents. @throws UserError when the address or the key cannot be right */
  agents(): Promise<Agents>;
  /** What names an agent in the whole world. */
  worldName(agentId: string): Promise<string>;
}

export interface LettaParts {
  readonly settings: RelaySettings;
  /** Of the environment. */
  readonly baseUrl: string | undefined;
  readonly make: (baseUrl: string | undefined) => Agents;
  readonly log: Logger;
}

/** Follows the setting: another address is another server, from the next message on. */
export function createLetta({ settings, baseUrl, make, log }: LettaParts): Letta {
  const servers = new Map<string | undefined, { readonly agents: Agents; recovered: Promise<unknown> | undefined }>();
  const address = async () => (await settings.global.get()).baseUrl ?? baseUrl;

  return {
    async agents() {
      const url = await address();
      const server = servers.get(url) ?? { agents: make(url), recovered: undefined };
      servers.set(url, server);
      // Agents must not be left waiting for an answer that an earlier process cannot give any more.
      server.recovered ??= server.agents.recover().catch((error: unknown) => {
        server.recovered = undefined;
        log.info('requests of agents that an earlier run left open could not be answered yet', { error });
      });
      await server.recovered;
      return server.agents;
    },
    worldName: async (agentId) => `${(await address()) ?? 'cloud'} ${agentId}`,
  };
}
