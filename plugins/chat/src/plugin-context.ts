import {
  Access,
  Accounts,
  Clock,
  Commands,
  Configuration,
  Files,
  FrontDoor,
  Ledger,
  Llm,
  MessageOrigins,
  OwnerNotices,
  optional,
  type PluginContext,
  Prefixes,
  Provenance,
  Random,
  type Services,
  SettingsCatalog,
  ToolHistory,
  Tools,
} from '@cinnabar/sdk';
import type { ConfigSource } from './config/chat-config.js';
import type { cacheSettings, guildSettings } from './config/guild-settings.js';
import { memories } from './context/caching/cache-state.js';
import type { ChannelHistory, Images, TextFiles } from './history/types.js';
import { pinnedRules } from './loop/activation.js';
import type { TellPrefill } from './loop/status.js';
import { heldCalls } from './loop/tool-records.js';

export const collections = { calls: heldCalls, memories, pinnedRules };

export const inject = {
  access: Access,
  catalog: SettingsCatalog,
  /** Without `accounts`, there are no budgets and no receipts. */
  accounts: optional(Accounts),
  clock: Clock,
  commands: Commands,
  configuration: Configuration,
  files: Files,
  frontDoor: optional(FrontDoor),
  ledger: Ledger,
  llm: optional(Llm),
  notices: OwnerNotices,
  prefixes: Prefixes,
  provenance: Provenance,
  random: Random,
  toolHistory: optional(ToolHistory),
  origins: MessageOrigins,
  tools: Tools,
};

export type ChatContext = PluginContext<
  { readonly guild: typeof guildSettings; readonly global: typeof cacheSettings },
  typeof collections,
  typeof inject
>;

/** The host's services, and those of this plugin's modules. */
export interface ChatServices
  extends Services<typeof inject>,
    Pick<ChatContext, 'client' | 'collections' | 'defer' | 'log' | 'on' | 'whySilent'> {
  readonly config: ConfigSource;
  readonly history: ChannelHistory;
  readonly images: Images;
  readonly textFiles: TextFiles;
  readonly tellPrefill: TellPrefill;
  /** Aborts when the plugin stops; within an answer, also when its turn ends. */
  readonly signal: AbortSignal;
}
