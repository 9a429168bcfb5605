import type { Access, Actor, Clock, Identities, ToolPolicies } from '@cinnabar/sdk';
import type { Client } from 'discord.js';
import type { ToolSettings } from './offering.js';
import type { SentMessages } from './sending/sent.js';

export const PLUGIN = 'discord-tools';

/** What the tools work with. */
export interface Parts {
  readonly client: Client;
  readonly access: Access;
  readonly policies: ToolPolicies;
  readonly clock: Clock;
  readonly sent: SentMessages;
  readonly identities: Pick<Identities, 'profile'>;
  /** Of a guild; of `null` what holds in direct messages. */
  readonly settings: ToolSettings['guild'];
}

/** Who calls, and through which tool: what a decision is about. */
export interface Caller {
  readonly actor: Actor;
  readonly tool: string;
}
