import type {
  Access,
  Accounts,
  Clock,
  Ledger,
  Llm,
  Logger,
  MessageOrigins,
  Prefixes,
  Provenance,
  Random,
  ToolHistory,
  Tools,
} from '@cinnabar/sdk';
import type { BuildContext } from '../context/types.js';
import type { ChannelHistory, Images, TextFiles } from '../history/types.js';
import type { ConfigSource } from './config-source.js';
import type { MemoryStore } from './memory-store.js';
import type { TellPrefill } from './status.js';
import type { CallStore } from './tools/records.js';
import type { ToolOutput } from './tools/visible-output.js';

/** What the loop works with: the rooms of this plugin and the host's services. */
export interface LoopParts {
  readonly access: Pick<Access, 'mayEnter'>;
  readonly llm: Llm | undefined;
  readonly tools: Tools;
  readonly ledger: Ledger;
  readonly provenance: Provenance;
  readonly toolHistory: ToolHistory | undefined;
  readonly prefixes: Prefixes;
  readonly config: ConfigSource;
  readonly history: ChannelHistory;
  readonly images: Images;
  readonly textFiles: TextFiles;
  readonly origins: Pick<MessageOrigins, 'of'>;
  /** Without them nothing limits what is used, and no receipt is kept. */
  readonly accounts: Accounts | undefined;
  readonly buildContext: BuildContext;
  readonly memories: MemoryStore;
  readonly calls: CallStore;
  readonly toolOutput: ToolOutput;
  readonly tellPrefill: TellPrefill;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Logger;
  /** Aborts when the plugin stops. */
  readonly signal: AbortSignal;
}
