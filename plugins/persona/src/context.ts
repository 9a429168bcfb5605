import type {
  Access,
  Accounts,
  Clock,
  Commands,
  FrontDoor,
  KeyedMutex,
  Languages,
  Ledger,
  Llm,
  Logger,
  Plugins,
  Prefixes,
  Provenance,
  Random,
  Tools,
  WorkerModule,
} from '@cinnabar/sdk';
import type { Client } from 'discord.js';
import type { ActionRegistry } from './actions/action.js';
import type { ConversationStore } from './conversation/conversation-store.js';
import type { Memories } from './memory/memories.js';
import type { Allowance } from './proactive.js';
import type { EventHub, TraceStore } from './running/events.js';
import type { PersonaSettings } from './settings.js';
import type { CardStore, PersonaStore } from './state/persona-store.js';

/** What the functions of this plugin work with: its own stores and the host's services. */
export interface PersonaContext {
  readonly access: Access;
  readonly accounts: Accounts | undefined;
  readonly allowance: Allowance;
  /** Work that belongs to no event, command or turn: begins at once; what it throws is logged. Only the plugin's stop waits for it. */
  readonly background: { run(what: string, task: () => Promise<void>): void; idle(): Promise<void> };
  readonly cards: CardStore;
  /** Reads cards, and their books, beside the main thread. */
  readonly cardFiles: WorkerModule<typeof import('./cards/worker.js')>;
  readonly client: Client;
  readonly clock: Clock;
  readonly commands: Pick<Commands, 'matches'>;
  readonly conversations: ConversationStore;
  readonly frontDoor: FrontDoor | undefined;
  readonly hub: EventHub;
  readonly languages: Pick<Languages, 'speak'>;
  readonly ledger: Pick<Ledger, 'get'>;
  readonly llm: Llm | undefined;
  readonly log: Logger;
  readonly memories: Memories;
  readonly plugins: Pick<Plugins, 'enabledIn'>;
  readonly prefixes: Pick<Prefixes, 'get'>;
  readonly provenance: Provenance;
  readonly random: Pick<Random, 'id'>;
  readonly registry: ActionRegistry;
  /** One run after another in each channel. */
  readonly runs: KeyedMutex;
  readonly store: PersonaStore;
  readonly tools: Tools;
  readonly traces: TraceStore;
  /** Aborts when the plugin stops. */
  readonly signal: AbortSignal;
  settingsFor(guildId: string | null): Promise<PersonaSettings>;
  /** The guilds in which any of them was changed. */
  guildsWithSettings(): Promise<readonly string[]>;
}
