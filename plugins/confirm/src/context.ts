import type { Clock, ComponentHandle, Ledger, Logger, Settings, ToolPolicies } from '@cinnabar/sdk';
import type { Client } from 'discord.js';
import type { CardRecords, Outbox } from './card-records.js';
import type { ShardOutages } from './expiry.js';
import type { Grants } from './grants.js';
import type { PendingCards } from './pending-cards.js';
import type { settings } from './settings.js';

/** What the functions of this plugin work with. */
export interface ConfirmContext {
  readonly client: Client;
  readonly clock: Clock;
  readonly log: Logger;
  /** Aborts when the plugin stops. */
  readonly signal: AbortSignal;
  readonly ledger: Ledger;
  readonly policies: ToolPolicies;
  readonly guildSettings: Settings<typeof settings>['guild'];
  readonly cards: PendingCards;
  readonly records: CardRecords;
  readonly outbox: Outbox;
  readonly grants: Grants;
  readonly outages: ShardOutages;
  readonly components: {
    /** The buttons of a card. */
    readonly decide: ComponentHandle;
    /** The menu of calls to leave out. */
    readonly exclude: ComponentHandle;
    /** The form that asks for a reason. */
    readonly reason: ComponentHandle;
    /** The menu of arguments that stay the same, and the button below it. */
    readonly patternMenu: ComponentHandle;
    readonly allowPattern: ComponentHandle;
  };
}
