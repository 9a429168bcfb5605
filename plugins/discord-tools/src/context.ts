import type { Access, Actor, Clock, Identities, ToolPolicies } from '@cinnabar/sdk';
import type { Client } from 'discord.js';
import type { SentMessages } from './sent-messages.js';
import type { ToolSettings } from './settings.js';

export const PLUGIN = 'discord-tools';

/** What every tool of the plugin works with. */
export interface Context {
  readonly client: Client;
  readonly access: Access;
  readonly policies: ToolPolicies;
  readonly clock: Clock;
  readonly sent: SentMessages;
  readonly identities: Pick<Identities, 'profile'>;
  /** The settings of a guild; of `null` those for direct messages. */
  readonly settings: ToolSettings['guild'];
}

/** The member or agent that calls, and the tool that is called: the subject of an access decision. */
export interface Caller {
  readonly actor: Actor;
  readonly tool: string;
}
