import type { Clock, Files, MessageOrigins, Prefixes, Random, ToolPolicies } from '@cinnabar/sdk';
import type { DependencyContainer, InjectionToken } from 'tsyringe';
import type { ProvenanceService } from '../access/visibility.js';
import type { ConfigurationService } from '../config/configuration.js';
import type { HostConfig } from '../config/host-config.js';
import type {
  AccessService,
  Boundary,
  CommandService,
  ComponentService,
  EnabledIn,
  Events,
  GuildStates,
  PersonalDataService,
  ResponderService,
  StorageService,
  ToolService,
} from '../contracts.js';
import type { BlockageWatch, InFlight } from '../gateway/boundary.js';
import type { GatewayClient } from '../gateway/client.js';
import type { GatewayStatus } from '../gateway/status.js';
import type { IdentityService } from '../identities/identities.js';
import type { AuditLogService } from '../observability/audit-log.js';
import type { Logs } from '../observability/logs.js';
import type { MetricsService } from '../observability/metrics.js';
import type { HostNotices } from '../observability/owner-notices.js';
import type { PluginManager } from '../plugins/manager.js';
import type { PluginServices } from '../plugins/services.js';
import type { Watchdog } from '../process/watchdog.js';
import type { DiskWatch } from '../storage/disk-watch.js';
import type { Driver } from '../storage/driver.js';
import type { WorkerService } from '../workers/workers.js';

const key = <T>(name: string): InjectionToken<T> => Symbol(name);

/** What the composition root resolves. Plugins see only what `services.ts` passes on, under the SDK's tokens. */
export const KEYS = {
  /** The container itself: plugin services live in a child of it. */
  container: key<DependencyContainer>('container'),
  config: key<HostConfig>('config'),
  configuration: key<ConfigurationService>('configuration'),
  clock: key<Clock>('clock'),
  random: key<Random>('random'),
  logs: key<Logs>('logs'),
  driver: key<Driver>('driver'),
  diskWatch: key<DiskWatch>('disk watch'),
  metrics: key<MetricsService>('metrics'),
  notices: key<HostNotices>('owner notices'),
  storage: key<StorageService>('storage'),
  audit: key<AuditLogService>('audit'),
  files: key<Files>('files'),
  guildStates: key<GuildStates>('guild states'),
  enabledIn: key<EnabledIn>('enabled in'),
  prefixes: key<Prefixes>('prefixes'),
  gateway: key<GatewayClient>('gateway'),
  connectionLog: key<{ readonly stop: () => void }>('connection log'),
  /** Per shard: connected or since when not, last close code, attempts. */
  gatewayStatus: key<GatewayStatus>('gateway status'),
  inFlight: key<InFlight>('in flight'),
  watchdog: key<Watchdog>('watchdog'),
  blockage: key<BlockageWatch>('blockage'),
  boundary: key<Boundary>('boundary'),
  identities: key<IdentityService>('identities'),
  access: key<AccessService>('access'),
  provenance: key<ProvenanceService>('provenance'),
  commands: key<CommandService>('commands'),
  components: key<ComponentService>('components'),
  responders: key<ResponderService>('responders'),
  tools: key<ToolService>('tools'),
  messageOrigins: key<MessageOrigins>('message origins'),
  toolPolicies: key<ToolPolicies>('tool policies'),
  events: key<Events>('events'),
  services: key<PluginServices>('services'),
  personalData: key<PersonalDataService>('personal data'),
  workers: key<WorkerService>('workers'),
  plugins: key<PluginManager>('plugins'),
} as const;
