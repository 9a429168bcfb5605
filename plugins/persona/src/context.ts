import type {
  Access,
  Accounts,
  Clock,
  Commands,
  KeyedMutex,
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
import type { ActionRegistry } from './actions/action-registry.js';
import type { CardStore } from './cards/card-store.js';
import type { ConversationStore } from './conversation/conversation-store.js';
import type { Memories } from './memory/types.js';
import type { AnalyseRepetition } from './repetition/analyse.js';
import type { CallLog } from './running/after-run.js';
import type { Background } from './running/background.js';
import type { EventHub } from './running/event-emitter.js';
import type { TraceStore } from './running/trace.js';
import type { PersonaSettings } from './settings.js';
import type { PersonaStore } from './state/persona-store.js';

/** What runs work with: the rooms of this plugin and the host's services. */
export interface RunParts {
  readonly access: Pick<Access, 'mayEnter'>;
  readonly accounts: Accounts | undefined;
  readonly analyse: AnalyseRepetition;
  readonly background: Background;
  readonly calls: CallLog;
  readonly cards: CardStore;
  /** Reads cards, and their books, beside the main thread. */
  readonly cardFiles: WorkerModule<typeof import('./cards/worker.js')>;
  readonly client: Client;
  readonly clock: Clock;
  readonly commands: Pick<Commands, 'matches'>;
  readonly conversations: ConversationStore;
  readonly hub: EventHub;
  /** One run after another in each channel. */
  readonly channelMutex: KeyedMutex;
  readonly ledger: Pick<Ledger, 'get'>;
  readonly provenance: Provenance;
  readonly llm: Llm | undefined;
  readonly log: Logger;
  readonly memories: Memories;
  readonly plugins: Pick<Plugins, 'enabledIn'>;
  readonly prefixes: Pick<Prefixes, 'get'>;
  readonly random: Pick<Random, 'id'>;
  readonly registry: ActionRegistry;
  readonly store: PersonaStore;
  readonly tools: Pick<Tools, 'offered'>;
  readonly traces: TraceStore;
  /** Aborts when the plugin stops. */
  readonly signal: AbortSignal;
  settingsFor(guildId: string | null): Promise<PersonaSettings>;
}
