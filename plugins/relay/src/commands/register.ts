import {
  type Access,
  type FrontDoor,
  type McpEndpoint,
  type Random,
  type Registrar,
  sentenceOf,
  UserError,
} from '@cinnabar/sdk';
import type { Watch } from '../agents/message-authors.js';
import { type TargetParts, targetOf } from '../agents/target.js';
import { promptFor } from '../delivery/deliver.js';
import type { LettaServers } from '../letta/agents.js';
import { troubleOf } from '../letta/errors.js';
import { rulesIn } from '../settings.js';
import { agentCommands } from './agents.js';
import { configCommand, switchCommands } from './config.js';
import { directCommands } from './direct.js';
import { grantCommands } from './grants.js';
import { createTrial, setupCommand } from './setup.js';
import { type ContextDesk, contextCommand, type StatusDesk, statusCommands } from './status.js';
import { type WakeDesk, wakeCommand } from './wake.js';

export interface CommandParts
  extends Omit<StatusDesk, 'access' | 'agentWorldName' | 'responderIn' | 'agents'>,
    Omit<ContextDesk, 'access' | 'promptFor'>,
    Omit<WakeDesk, 'access'>,
    TargetParts {
  readonly access: Pick<Access, 'decide' | 'mayEnter'>;
  readonly letta: LettaServers;
  readonly watch: Watch;
  readonly random: Random;
  readonly endpoint: McpEndpoint | undefined;
  readonly frontDoor: FrontDoor | undefined;
}

/** `!relay …`, with its slash twins. */
export function registerCommands({ group }: Pick<Registrar, 'group'>, parts: CommandParts): void {
  const { letta, settings, endpoint, frontDoor, client } = parts;
  const agents = () => letta.agents();
  const desk = {
    ...parts,
    agents,
    agentWorldName: letta.worldName,
    responderIn: async (guildId: string | null, channelId: string) =>
      (await frontDoor?.responderIn(guildId, channelId)) ?? 'nobody',
    hasBearer: async (identity: string) => (await endpoint?.has(identity)) === true,
    revoke: async (identity: string) => endpoint?.revoke(identity),
    async nameOf(agentId: string) {
      const info = await agents()
        .then((all) => all.find(agentId))
        .catch(() => undefined);
      return info === undefined ? undefined : asName(info.name);
    },
    async promptFor(event: Parameters<ContextDesk['promptFor']>[0]) {
      const target = await targetOf(event, parts);
      if (target === undefined) throw new UserError('The agents of this server are switched off: `relay enable`.');
      return promptFor([event], target, await rulesIn(settings, event.guildId, event.userId), await agents());
    },
    toolsUrl: async () =>
      endpoint?.url === undefined ? undefined : ((await settings.global.get()).mcpUrl ?? endpoint.url),
    serverName: () => `cinnabar-${client.user?.id ?? ''}`,
    tryToPost: createTrial({ ...parts, agents }),
    troubleOf: (error: unknown) => sentenceOf(error) ?? troubleOf(error).sentence,
  };
  group({
    name: 'relay',
    description: 'Letta agents that live here',
    help: 'Set one up in five steps: `relay agent <id>`, `relay enable`, `ai use relay`, `relay setup`, and say something to me.',
    commands: [
      ...agentCommands(desk),
      setupCommand(desk),
      ...switchCommands(desk),
      ...grantCommands(desk),
      directCommands(desk),
      configCommand(desk),
      ...statusCommands(desk),
      contextCommand(desk),
      wakeCommand(desk),
    ],
  });
}

/** What an agent is called at the server, in the characters that a name here has. */
function asName(name: string): string | undefined {
  const plain = name
    .replace(/[^A-Za-z0-9_-]+/gu, '-')
    .slice(0, 32)
    .replace(/^[-_]+|-+$/gu, '');
  return plain === '' ? undefined : plain;
}
