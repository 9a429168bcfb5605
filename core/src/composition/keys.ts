import {
  Access,
  AccessRules,
  AuditLog,
  Backups,
  Clock,
  Cluster,
  Commands,
  Configuration,
  Doctor,
  Files,
  GuildFiles,
  HostControl,
  HostInfo,
  Identities,
  type Language,
  Languages,
  Ledger,
  LogReader,
  MessageDecisions,
  MessageOrigins,
  Monitoring,
  OwnerNotices,
  PersonalDataStore,
  PluginPackages,
  Plugins,
  Prefixes,
  Provenance,
  Random,
  Redaction,
  Responders,
  Secrets,
  SettingsCatalog,
  TierRoles,
  type Token,
  ToolPolicies,
  Tools,
  WebPages,
} from '@cinnabar/sdk';
import type { DependencyContainer, InjectionToken } from 'tsyringe';
import type { ProvenanceService } from '../access/visibility.js';
import type { Assignment } from '../cluster/assignment.js';
import type { ConfigurationService } from '../config/configuration.js';
import type { HostConfig } from '../config/host-config.js';
import type { SecretsService } from '../config/secrets.js';
import type {
  AccessService,
  Boundary,
  CommandService,
  ComponentService,
  EnabledIn,
  Events,
  GuildStates,
  OwnerState,
  PersonalDataService,
  ResponderService,
  StorageService,
  ToolService,
} from '../contracts.js';
import type { BlockageWatch, InFlight } from '../gateway/boundary.js';
import type { GatewayClient } from '../gateway/client.js';
import type { GatewayStatus } from '../gateway/status.js';
import type { GuildFileService } from '../guild-file/guild-files.js';
import type { IdentityService } from '../identities/identities.js';
import type { LanguageService } from '../languages/languages.js';
import type { HostNotices } from '../observability/alert-queue.js';
import type { AuditLogService, Logs } from '../observability/logs.js';
import type { MetricsService } from '../observability/metrics.js';
import type { Discover } from '../plugins/discovery.js';
import type { PluginManager } from '../plugins/manager.js';
import type { PluginServices } from '../plugins/services.js';
import type { Watchdog } from '../process/watchdog.js';
import type { DiskWatch, Driver } from '../storage/driver.js';
import type { SubjectIndex } from '../storage/subjects.js';
import type { PageService } from '../web/pages.js';
import type { WorkerService } from '../workers/pool.js';

const key = <T>(name: string): InjectionToken<T> => Symbol(name);

/** The keys that the composition root resolves. Plugins see only what `services.ts` passes on, under the SDK's tokens. */
export const KEYS = {
  /** The container itself: plugin services live in a child of it. */
  container: key<DependencyContainer>('container'),
  config: key<HostConfig>('config'),
  /** The groups of servers that this host serves in a cluster. */
  assignment: key<{ readonly of: Assignment | undefined }>('assignment'),
  configuration: key<ConfigurationService>('configuration'),
  clock: key<Clock>('clock'),
  hostInfo: key<HostInfo>('host info'),
  doctor: key<Doctor>('doctor'),
  hostControl: key<HostControl>('host control'),
  random: key<Random>('random'),
  logs: key<Logs>('logs'),
  driver: key<Driver>('driver'),
  subjects: key<SubjectIndex>('subjects'),
  diskWatch: key<DiskWatch>('disk watch'),
  metrics: key<MetricsService>('metrics'),
  monitoring: key<Monitoring>('monitoring'),
  notices: key<HostNotices>('owner notices'),
  storage: key<StorageService>('storage'),
  audit: key<AuditLogService>('audit'),
  files: key<Files>('files'),
  backups: key<Backups>('backups'),
  secrets: key<SecretsService>('secrets'),
  guildStates: key<GuildStates>('guild states'),
  ownerState: key<OwnerState>('owner state'),
  guildFiles: key<GuildFileService>('guild files'),
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
  discord: key<{ readonly isNew: boolean }>('the Discord that the bot connects to'),
  spoken: key<{ readonly byDefault: Language | undefined }>('what is spoken'),
  languages: key<LanguageService>('languages'),
  access: key<AccessService>('access'),
  accessRules: key<AccessRules>('access rules'),
  tierRoles: key<TierRoles>('tier roles'),
  provenance: key<ProvenanceService>('provenance'),
  commands: key<CommandService>('commands'),
  components: key<ComponentService>('components'),
  responders: key<ResponderService>('responders'),
  pages: key<PageService>('pages'),
  tools: key<ToolService>('tools'),
  messageDecisions: key<MessageDecisions>('message decisions'),
  messageOrigins: key<MessageOrigins>('message origins'),
  toolPolicies: key<ToolPolicies>('tool policies'),
  events: key<Events>('events'),
  services: key<PluginServices>('services'),
  personalData: key<PersonalDataService>('personal data'),
  workers: key<WorkerService>('workers'),
  plugins: key<PluginManager>('plugins'),
  discover: key<Discover>('discovery of plugins'),
  pluginPackages: key<PluginPackages>('plugin packages'),
} as const;

/** Passes the host's own services to plugins, under the SDK's tokens. They are looked up when a plugin starts. */
export function provideHostServices(container: DependencyContainer): void {
  const provide = <T>(token: Token<T>, find: () => T) => container.register<T>(token.id, { useFactory: find });

  provide(Cluster, () => ({ status: async () => container.resolve(KEYS.assignment).of?.status() }));
  provide(WebPages, () => container.resolve(KEYS.pages));
  provide(Clock, () => container.resolve(KEYS.clock));
  provide(Doctor, () => container.resolve(KEYS.doctor));
  provide(HostControl, () => container.resolve(KEYS.hostControl));
  provide(HostInfo, () => container.resolve(KEYS.hostInfo));
  provide(Random, () => container.resolve(KEYS.random));
  provide(Configuration, () => container.resolve(KEYS.configuration));
  provide(Identities, () => container.resolve(KEYS.identities));
  provide(Languages, () => container.resolve(KEYS.languages));
  provide(Access, () => container.resolve(KEYS.access));
  provide(AccessRules, () => container.resolve(KEYS.accessRules));
  provide(TierRoles, () => container.resolve(KEYS.tierRoles));
  provide(GuildFiles, () => container.resolve(KEYS.guildFiles));
  provide(Provenance, () => container.resolve(KEYS.provenance));
  provide(Commands, () => container.resolve(KEYS.commands));
  provide(Responders, () => container.resolve(KEYS.responders));
  provide(Tools, () => container.resolve(KEYS.tools));
  provide(Ledger, () => container.resolve(KEYS.tools).ledger);
  provide(MessageDecisions, () => container.resolve(KEYS.messageDecisions));
  provide(MessageOrigins, () => container.resolve(KEYS.messageOrigins));
  provide(ToolPolicies, () => container.resolve(KEYS.toolPolicies));
  provide(SettingsCatalog, () => container.resolve(KEYS.storage).catalog);
  provide(OwnerNotices, () => container.resolve(KEYS.notices));
  provide(Files, () => container.resolve(KEYS.files));
  provide(Secrets, () => container.resolve(KEYS.secrets));
  provide(Backups, () => container.resolve(KEYS.backups));
  provide(PersonalDataStore, () => container.resolve(KEYS.personalData));
  provide(Plugins, () => container.resolve(KEYS.plugins));
  provide(PluginPackages, () => container.resolve(KEYS.pluginPackages));
  provide(AuditLog, () => container.resolve(KEYS.audit));
  provide(Monitoring, () => container.resolve(KEYS.monitoring));
  provide(LogReader, () => container.resolve(KEYS.logs).reader);
  provide(Redaction, () => container.resolve(KEYS.logs).redactor);
  provide(Prefixes, () => container.resolve(KEYS.prefixes));
}
