import {
  Access,
  Accounts,
  Clock,
  Commands,
  FrontDoor,
  Identities,
  Languages,
  McpEndpoint,
  OwnerNotices,
  optional,
  type PluginContext,
  Random,
  type Services,
  SettingsCatalog,
  ToolPolicies,
  Tools,
  z,
} from '@cinnabar/sdk';
import { type MessageAuthors, posts } from './agents/message-authors.js';
import type { AgentPermissions } from './agents/permissions.js';
import { type DmAgents, directs, type Rosters, rosters } from './agents/roster.js';
import { type Budget, days } from './budget.js';
import type { OutageNotices } from './delivery/notices.js';
import { type ErrorLog, errorCollections } from './error-log.js';
import type { LettaServers } from './letta/agents.js';
import { lettaCollections } from './letta/runs/prompt-context.js';
import { digests } from './presence/digests.js';
import { type OwnThreads, startedThreads } from './presence/messages.js';
import { wakes } from './presence/wakes.js';
import type { Breakers } from './queue/attempts.js';
import type { RelayQueue } from './queue/queue.js';
import type { settings } from './settings.js';

/** The stored data of the relay, in addition to the journal of its queue. */
export const collections = {
  rosters,
  directs,
  days,
  digests,
  posts,
  startedThreads,
  wakes,
  ...errorCollections,
  ...lettaCollections,
};

export const inject = {
  access: Access,
  accounts: optional(Accounts),
  catalog: SettingsCatalog,
  clock: Clock,
  commands: Commands,
  endpoint: optional(McpEndpoint),
  frontDoor: optional(FrontDoor),
  identities: Identities,
  languages: Languages,
  notices: OwnerNotices,
  random: Random,
  policies: ToolPolicies,
  tools: Tools,
};

export const env = z.object({
  LETTA_API_KEY: z
    .string()
    .optional()
    .meta({ secret: true })
    .describe("Key of the Letta server; Letta's cloud needs one"),
  LETTA_BASE_URL: z
    .url({ protocol: /^https?$/ })
    .optional()
    .describe('Address of a Letta server of your own'),
});

/** The plugin's context from the host. */
export type RelayContext = PluginContext<typeof settings, typeof collections, typeof inject, typeof env>;

/** The host's context and services, and the relay's own stores. */
export interface RelayStores extends RelayContext, Services<typeof inject> {
  readonly rosters: Rosters;
  readonly dmAgents: DmAgents;
  readonly authors: MessageAuthors;
  readonly ownThreads: OwnThreads;
  readonly budget: Budget;
  readonly breakers: Breakers;
  readonly errors: ErrorLog;
}

/** The services that a delivery uses. */
export interface RelayCore extends RelayStores {
  readonly letta: LettaServers;
  readonly permissions: AgentPermissions;
}

/** The services of a delivery, and the queue, for code that adds events to the queue or reads it. */
export interface Relay extends RelayCore {
  readonly queue: RelayQueue;
  readonly outages: OutageNotices;
}
