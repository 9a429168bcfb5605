import {
  type Clock,
  type ComponentHandle,
  type Languages,
  type Ledger,
  type Logger,
  type Settings,
  type ToolPolicies,
  z,
} from '@cinnabar/sdk';
import type { Client } from 'discord.js';
import type { ShardOutages } from './decisions.js';
import type { Grants } from './grants.js';
import type { CardRecords, Outbox, PendingCards } from './pending-cards.js';

/** The context of this plugin's functions. */
export interface ConfirmContext {
  readonly client: Client;
  readonly clock: Clock;
  readonly log: Logger;
  /** Aborts when the plugin stops. */
  readonly signal: AbortSignal;
  readonly languages: Languages;
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
    /** The menu of calls that are left out. */
    readonly exclude: ComponentHandle;
    /** The form for a reason. */
    readonly reason: ComponentHandle;
    /** The menu of arguments that stay the same, and the button below it. */
    readonly patternMenu: ComponentHandle;
    readonly allowPattern: ComponentHandle;
  };
}

const rules = z.object({
  style: z.enum(['plain', 'cyberpunk', 'terminal']).default('plain').describe('How confirmation cards look'),
  timeLimit: z
    .number()
    .int()
    .min(10)
    .max(3600)
    .default(60)
    .describe('Seconds that a member has to decide, from the moment the card is there'),
  require: z
    .array(z.enum(['read', 'write', 'destructive']))
    .default(['read', 'write', 'destructive'])
    .describe('Which tools need a confirmation, by what they do; a policy of one tool goes before'),
  readsInTasks: z
    .boolean()
    .default(true)
    .describe('Whether a task may use tools that only read without a confirmation, with the rights of its member'),
  controls: z
    .enum(['reactions', 'buttons', 'both'])
    .default('reactions')
    .describe('How a member decides; buttons are always used where the bot may not add reactions'),
  maxOpen: z
    .number()
    .int()
    .min(1)
    .max(100)
    .default(20)
    .describe('How many requests of one member may wait for a decision at the same time, in all servers together'),
  sessionApprovals: z
    .enum(['never', 'like-this', 'by-risk', 'always'])
    .default('by-risk')
    .describe(
      'What may be allowed for the rest of a task: nothing; calls like one that was shown; also any call of a tool that is not destructive; the same even where the policy of a tool is confirm',
    ),
});

export const settings = { guild: rules };

/** How calls are confirmed in a guild; in a direct message the defaults apply. */
export type Rules = z.output<typeof rules>;
export type Style = Rules['style'];
