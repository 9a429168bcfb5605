import type {
  Access,
  Accounts,
  Clock,
  Commands,
  FrontDoor,
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
import type { ActionRegistry } from './actions/action.js';
import type { CardStore } from './cards/card-store.js';
import type { ConversationStore } from './conversation/conversation-store.js';
import type { Memories } from './memory/types.js';
import type { Allowance } from './proactive/unasked-runs.js';
import type { CallLog } from './running/after-run.js';
import type { EventHub } from './running/event-emitter.js';
import type { TraceStore } from './running/trace.js';
import type { PersonaSettings } from './settings.js';
import type { PersonaStore } from './state/persona-store.js';

/** What the functions of this plugin work with: its own stores and the host's services. */
export interface PersonaContext {
  readonly access: Access;
  readonly accounts: Accounts | undefined;
  readonly allowance: Allowance;
  readonly background: Background;
  readonly calls: CallLog;
  readonly cards: CardStore;
  /** Reads cards, and their books, beside the main thread. */
  readonly cardFiles: WorkerModule<typeof import('./cards/worker.js')>;
  readonly client: Client;
  readonly clock: Clock;
  readonly commands: Pick<Commands, 'matches'>;
  readonly conversations: ConversationStore;
  readonly frontDoor: FrontDoor | undefined;
  readonly hub: EventHub;
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
}

type Background = ReturnType<typeof createBackground>;

/** Work that belongs to no event, command or turn, and that only the plugin's stop waits for. */
export function createBackground(log: Logger) {
  const running = new Set<Promise<void>>();
  return {
    /** Begins it at once; what it throws is logged. */
    run(what: string, task: () => Promise<void>): void {
      const work = task()
        .catch((error: unknown) => log.warn(`${what} failed`, { error }))
        .finally(() => running.delete(work));
      running.add(work);
    },
    /** Resolves when nothing is running. To be deferred: the plugin's signal has aborted by then, and ends what takes long. */
    async idle(): Promise<void> {
      while (running.size > 0) await Promise.all(running);
    },
  };
}
