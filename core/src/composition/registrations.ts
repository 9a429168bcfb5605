import 'reflect-metadata';
import { createHash } from 'node:crypto';
import { statSync } from 'node:fs';
import { join, resolve } from 'node:path';
// The global `performance` is a getter, and this is called with every event.
import { performance } from 'node:perf_hooks';
import { fileURLToPath } from 'node:url';
import { defined, type Plugin, t } from '@cinnabar/sdk';
import { type DependencyContainer, type InjectionToken, instanceCachingFactory } from 'tsyringe';
import { createAccess } from '../access/access.js';
import { createAccessRules, createTierRoles, personalRules } from '../access/rules.js';
import { createMessageOrigins, createProvenance } from '../access/visibility.js';
import { createBackups } from '../backup/backups.js';
import { createAbortableRequests } from '../cluster/channel.js';
import { NO_CLAIMS } from '../cluster/claims.js';
import { shareEffects } from '../cluster/effects.js';
import { createHandedNotices, takeNotices } from '../cluster/notices.js';
import { sharePersonalData } from '../cluster/personal-data.js';
import { shareProvenance } from '../cluster/provenance.js';
import { createQuestions } from '../cluster/questions.js';
import { shareTools } from '../cluster/tools.js';
import { notice } from '../commands/answers.js';
import { createCommands } from '../commands/commands.js';
import { createSharedSlashPace, syncedListsSchema } from '../commands/slash-sync.js';
import { createComponents } from '../components/components.js';
import { createConfiguration } from '../config/configuration.js';
import type { HostConfig } from '../config/host-config.js';
import {
  createSecretFile,
  createSecrets,
  createSharedSecrets,
  encryptedSecret,
  type SecretStore,
} from '../config/secrets.js';
import { allChecks, examine } from '../doctor/all-checks.js';
import { type Examine, findingsOfAll, shareDoctor } from '../doctor/all-processes.js';
import { createBoundary, createInFlight, watchBlockage } from '../gateway/boundary.js';
import { createGatewayClient } from '../gateway/client.js';
import { createEvents } from '../gateway/events.js';
import {
  createEnabledIn,
  createGuildStates,
  createOwnerState,
  createPrefixes,
  guildStateDocuments,
  isEnabledIn,
  ownerStateDocuments,
} from '../gateway/guild-states.js';
import { EVERYTHING, type Partition } from '../gateway/partition.js';
import { alertOfAbsence, logConnections } from '../gateway/status.js';
import { directoryOf, guildOf, idsCalled, isElsewhere } from '../guild-file/directory.js';
import { createGuildFiles, guildFileSchema } from '../guild-file/guild-files.js';
import { createIdentities, identitySchema } from '../identities/identities.js';
import { createLanguages } from '../languages/languages.js';
import { alertsSchema } from '../observability/alert-queue.js';
import { auditSchema, createAuditLog } from '../observability/logs.js';
import { createMetrics } from '../observability/metrics.js';
import { createOwnerNotices, languagesOf } from '../observability/owner-notices.js';
import { createContext, createDiagnoses, createSetupNeeds, createSilences } from '../plugins/context.js';
import { discoveryOf } from '../plugins/discovery.js';
import { createInstaller, unchanging } from '../plugins/install/installer.js';
import { createLoader, type LoaderOptions } from '../plugins/loader.js';
import { createGuardStore, createPluginManager, type PluginChange, type PluginManager } from '../plugins/manager.js';
import { createServices } from '../plugins/services.js';
import { createMessageDecisions, createResponders } from '../responders/responders.js';
import { createCeilings } from '../storage/documents/settings.js';
import { createDiskWatch, watchedDriver } from '../storage/driver.js';
import { createFileDriver } from '../storage/drivers/file-driver.js';
import { createFiles } from '../storage/files.js';
import { SECRETS_FILE } from '../storage/paths.js';
import { createPersonalData } from '../storage/personal-data.js';
import { createStorage } from '../storage/storage.js';
import { createSubjectIndex } from '../storage/subjects.js';
import { createLedgerStore } from '../tools/ledger-store.js';
import { createToolPolicies, createTools } from '../tools/tools.js';
import { HOST_VERSION } from '../version.js';
import { sharePages } from '../web/group-pages.js';
import { createPages } from '../web/pages.js';
import { createWorkerPool, createWorkers } from '../workers/pool.js';
import { KEYS, provideHostServices } from './keys.js';

/** The folder of this package, with the host's translations. */
const CORE = fileURLToPath(new URL('../../', import.meta.url));

/** Resolves a service; the short name keeps the wiring below readable. */
type Get = <T>(key: InjectionToken<T>) => T;

const partitionOf = (get: Get): Partition => get(KEYS.assignment).of?.partition ?? EVERYTHING;

/** The key of a document that each host of a cluster has separately, so that hosts do not overwrite each other's data. */
const keyOfGroup = (key: string, { group }: Partition): string => (group === 0 ? key : `${key}@${group}`);

/** Plugins that are not loaded from their sources. */
type Loading = Pick<LoaderOptions, 'builtPlugins' | 'reuse'>;

/** Registers how every service is built. Each is built once, at its first use. When two services need each other, one of them resolves the other later. */
export function registerServices(
  container: DependencyContainer,
  onChange: (change: PluginChange) => void,
  loading: Loading,
): void {
  const service = <T>(key: InjectionToken<T>, build: (get: Get) => T) =>
    container.register<T>(key, {
      useFactory: instanceCachingFactory((inner) => build((wanted) => inner.resolve(wanted))),
    });

  registerState(service, onChange);
  registerGateway(service);
  registerSurfaces(service);
  registerPlugins(service, onChange, loading);
  provideHostServices(container);
}

type Register = <T>(key: InjectionToken<T>, build: (get: Get) => T) => unknown;

function registerState(service: Register, onChange: (change: PluginChange) => void): void {
  service(KEYS.configuration, (get) =>
    createConfiguration({
      dir: get(KEYS.config).configDir,
      root: get(KEYS.config).root,
      botName: get(KEYS.config).botName,
      clock: get(KEYS.clock),
      log: get(KEYS.logs).logger('configuration'),
      onProblem: (sentence) => get(KEYS.notices).tell(`${sentence} The last good content stays in force.`),
    }),
  );
  service(KEYS.subjects, (get) => createSubjectIndex(get(KEYS.driver)));
  service(KEYS.storage, (get) =>
    createStorage({
      driver: get(KEYS.driver),
      subjects: get(KEYS.subjects),
      journalsIn(folder) {
        const log = get(KEYS.logs).logger('storage');
        const files = createFileDriver({ root: folder, journals: folder, clock: get(KEYS.clock), log });
        return watchedDriver(files, get(KEYS.diskWatch));
      },
      log: get(KEYS.logs).logger('storage'),
      presets: get(KEYS.config).presets,
      presetPlace: get(KEYS.config).presetPlace,
      ceilings: createCeilings(get(KEYS.configuration), get(KEYS.logs).logger('configuration')),
      tierOf: (actor) => get(KEYS.access).tierOf(actor),
      hasRole: (guildId, roleId) =>
        get(KEYS.gateway).client.guilds.cache.get(guildId)?.roles.cache.has(roleId) === true,
      called: (guildId, of, name) => idsCalled(get(KEYS.gateway).client, guildId, of, name),
      guildOf: (kind, id) => guildOf(get(KEYS.gateway).client, kind, id),
      isElsewhere: (guildId, kind, id) => isElsewhere(get(KEYS.gateway).client, guildId, kind, id),
      onProblem: ({ document, detail, keptAs }) =>
        get(KEYS.notices).alert({
          kind: 'document-damaged',
          text: () =>
            keptAs === undefined
              ? t(
                  'The stored document {document} was damaged ({detail}). It was put aside; its last good copy is used.',
                  {
                    document,
                    detail,
                  },
                )
              : t(
                  'The stored document {document} was damaged ({detail}). It was put aside as {file}; its last good copy is used.',
                  { document, detail, file: keptAs },
                ),
          remedy: () => t('If this happens again, check the disk.'),
        }),
    }),
  );
  service(KEYS.metrics, (get) =>
    createMetrics(get(KEYS.logs).logger('metrics'), get(KEYS.assignment).of?.partition.group),
  );
  service(KEYS.notices, (get) => {
    const { of: assignment } = get(KEYS.assignment);
    const partition = partitionOf(get);
    const parts = {
      document: () =>
        get(KEYS.storage)
          .collection('notices', { scope: 'global', version: 1, schema: alertsSchema })
          // Each host of a cluster keeps a separate one.
          .of(keyOfGroup('owners', partition)),
      redact: (text: string) => get(KEYS.logs).redactor.text(text),
      clock: get(KEYS.clock),
      log: get(KEYS.logs).logger('host'),
    };
    if (assignment !== undefined && !partition.owns(null)) {
      const { channel } = assignment;
      return createHandedNotices({
        ...parts,
        channel,
        group: partition.group,
        languages: () => languagesOf(get(KEYS.languages)),
      });
    }
    const own = createOwnerNotices({
      ...parts,
      client: get(KEYS.gateway).client,
      owners: () => get(KEYS.access).owners(),
      languages: () => get(KEYS.languages),
    });
    return assignment === undefined ? own : takeNotices(own, assignment.channel);
  });
  service(KEYS.audit, (get) =>
    createAuditLog(
      get(KEYS.storage).collection('audit', { scope: 'guild', version: 1, schema: auditSchema }),
      get(KEYS.logs),
      get(KEYS.clock),
      get(KEYS.logs).logger('host'),
    ),
  );
  service(KEYS.secrets, (get) =>
    createSecrets({
      store: secretStore(get),
      env: get(KEYS.config).env,
      declared: () => get(KEYS.plugins).environments(),
      plugins: () => get(KEYS.plugins),
      redactor: get(KEYS.logs).redactor,
      alert: (alert) => get(KEYS.notices).alert(alert),
      log: get(KEYS.logs).logger('configuration'),
    }),
  );
  service(KEYS.backups, (get) =>
    createBackups({
      config: get(KEYS.config),
      driver: get(KEYS.driver),
      contents: () => ({
        secrets: get(KEYS.storage).secretKeys(),
        plugins: get(KEYS.plugins)
          .list()
          .map(({ id, manifest: { version } }) => ({ id, version })),
      }),
      clock: get(KEYS.clock),
      log: get(KEYS.logs).logger('backup'),
    }),
  );
  service(KEYS.files, (get) => createFiles(get(KEYS.config)));
  service(KEYS.diskWatch, (get) =>
    createDiskWatch({
      clock: get(KEYS.clock),
      log: get(KEYS.logs).logger('storage'),
      alert: (alert) => get(KEYS.notices).alert(alert),
    }),
  );
  service(KEYS.guildStates, (get) =>
    createGuildStates(get(KEYS.storage).collection('guilds', guildStateDocuments, 'all'), {
      onSwitched: (plugins, guildId) => onChange({ plugins, guildId }),
      ...defined({ owns: get(KEYS.assignment).of?.partition.owns }),
    }),
  );
  service(KEYS.ownerState, (get) =>
    createOwnerState(get(KEYS.storage).collection('owner', ownerStateDocuments), (plugins, guildId) =>
      onChange({ plugins, guildId }),
    ),
  );
  service(KEYS.enabledIn, (get) => createEnabledIn(get(KEYS.guildStates), get(KEYS.ownerState)));
  service(KEYS.guildFiles, (get) =>
    createGuildFiles({
      documents: get(KEYS.storage).collection('guild-files', { scope: 'guild', version: 1, schema: guildFileSchema }),
      states: get(KEYS.guildStates),
      opened: get(KEYS.storage).opened,
      manifests: () =>
        get(KEYS.plugins)
          .list()
          .map(({ manifest }) => manifest),
      onByDefault: (manifest) => isEnabledIn(get(KEYS.guildStates), get(KEYS.ownerState), null, manifest),
      directory: async (guildId) => directoryOf(get(KEYS.gateway).client, guildId),
      refusalOf: get(KEYS.storage).catalog.refusalOf,
      configuration: get(KEYS.configuration),
      audit: get(KEYS.audit),
      switched: (guildId, plugins) => onChange({ plugins, guildId }),
      clock: get(KEYS.clock),
      log: get(KEYS.logs).logger('host'),
    }),
  );
  service(KEYS.prefixes, (get) => {
    const { prefixes, ownPrefixes } = get(KEYS.config);
    return createPrefixes(get(KEYS.guildStates), prefixes, ownPrefixes);
  });
  service(KEYS.personalData, (get) => {
    const own = createPersonalData(
      get(KEYS.storage),
      {
        calls: get(KEYS.tools).personalData,
        identities: get(KEYS.identities).personalData,
        rules: personalRules(
          get(KEYS.storage).collection('guilds', guildStateDocuments),
          get(KEYS.guildStates),
          get(KEYS.ownerState),
        ),
        files: get(KEYS.guildFiles).personalData,
        audit: get(KEYS.audit).personalData,
        // Closed after everything that may still write to them.
        logs: {
          export: async () => ({}),
          forget: (userId) => get(KEYS.logs).forget(userId),
          stays: [
            'that tools were called for you, when and with what outcome, without your words, in the log of the bot’s owner',
          ],
        },
      },
      () => get(KEYS.tools).idle(),
    );
    const { of: assignment } = get(KEYS.assignment);
    return assignment === undefined ? own : sharePersonalData(own, assignment.channel);
  });
  service(KEYS.identities, (get) =>
    createIdentities({
      documents: get(KEYS.storage).collection('identities', {
        scope: 'global',
        version: 1,
        schema: identitySchema,
        shared: true,
      }),
      onGap: get(KEYS.storage).onGap,
      async isOn(guildId, plugin) {
        if (guildId !== null) await get(KEYS.guildStates).load(guildId);
        const plugins = get(KEYS.plugins);
        return plugins.enabledIn(guildId, plugin) && plugins.owners().some(({ id }) => id === plugin);
      },
      log: get(KEYS.logs).logger('access'),
    }),
  );
}

function registerGateway(service: Register): void {
  service(KEYS.gateway, (get) =>
    createGatewayClient({
      discordApi: get(KEYS.config).discordApi,
      assignment: get(KEYS.assignment).of,
      clock: get(KEYS.clock),
      random: get(KEYS.random),
      log: get(KEYS.logs).logger('gateway'),
      alert: (alert) => get(KEYS.notices).alert(alert),
    }),
  );
  service(KEYS.gatewayStatus, (get) => get(KEYS.gateway).status);
  service(KEYS.connectionLog, (get) => {
    const { client, status } = get(KEYS.gateway);
    const stopLogging = logConnections(client, status, get(KEYS.clock), get(KEYS.logs).logger('gateway'));
    const stopAlerting = alertOfAbsence(status, get(KEYS.clock), (alert) => get(KEYS.notices).alert(alert));
    return {
      stop() {
        stopLogging();
        stopAlerting();
      },
    };
  });
  service(KEYS.inFlight, (get) => createInFlight(get(KEYS.clock)));
  service(KEYS.blockage, (get) =>
    watchBlockage(get(KEYS.logs).logger('host'), get(KEYS.inFlight).busy, () => performance.now(), get(KEYS.watchdog)),
  );
  service(KEYS.boundary, (get) =>
    createBoundary({
      clock: get(KEYS.clock),
      log: get(KEYS.logs).logger('host'),
      inFlight: get(KEYS.inFlight),
      blockage: get(KEYS.blockage),
      isDiscordFailure: get(KEYS.gateway).isDiscordFailure,
      alert: (alert) => get(KEYS.notices).alert(alert),
    }),
  );
  service(KEYS.events, (get) =>
    createEvents({
      client: get(KEYS.gateway).client,
      states: get(KEYS.guildStates),
      enabledIn: get(KEYS.enabledIn),
      ownerState: get(KEYS.ownerState),
      access: get(KEYS.access),
      boundary: get(KEYS.boundary),
      log: get(KEYS.logs).logger('gateway'),
      onMessage: get(KEYS.commands).onMessage,
      onInteraction: (interaction) =>
        get(KEYS.commands).onInteraction(interaction) || get(KEYS.components).onInteraction(interaction),
      stored: get(KEYS.gateway).stored,
      waits: get(KEYS.assignment).of?.claims.follows,
      onLate(interaction) {
        if (!interaction.isRepliable()) return;
        const { guildId, user, locale } = interaction;
        const say = () =>
          notice(interaction, t('I am being stopped or restarted, so nothing was done. Please try again in a minute.'));
        Promise.resolve(get(KEYS.languages).serve({ guildId, userId: user.id }, locale, say)).catch((error: unknown) =>
          get(KEYS.logs).logger('gateway').debug('a late interaction was not answered', { error }),
        );
      },
    }),
  );
}

function registerSurfaces(service: Register): void {
  const basics = (get: Get, component: string) => ({
    clock: get(KEYS.clock),
    random: get(KEYS.random),
    log: get(KEYS.logs).logger(component),
  });
  service(KEYS.access, (get) => {
    // Resolved at the first call: the plugin manager needs this service for its own construction.
    let plugins: PluginManager | undefined;
    return createAccess({
      ...basics(get, 'access'),
      client: get(KEYS.gateway).client,
      states: get(KEYS.guildStates),
      ownerState: get(KEYS.ownerState),
      pluginIn(guildId, id) {
        plugins ??= get(KEYS.plugins);
        return { enabled: plugins.enabledIn(guildId, id), required: plugins.isRequired(id) };
      },
      owners: get(KEYS.config).owners,
      identities: get(KEYS.identities),
    });
  });
  service(KEYS.languages, (get) =>
    createLanguages({
      folders: () => [
        CORE,
        ...get(KEYS.plugins)
          .list()
          .map(({ path }) => path),
      ],
      log: get(KEYS.logs).logger('languages'),
      byDefault: get(KEYS.spoken).byDefault,
    }),
  );
  service(KEYS.provenance, (get) => {
    const log = get(KEYS.logs).logger('access');
    const own = createProvenance(get(KEYS.gateway).client, get(KEYS.access), log);
    const { of: assignment } = get(KEYS.assignment);
    return assignment === undefined ? own : shareProvenance(own, assignment, log);
  });
  service(KEYS.commands, (get) => {
    const { of: assignment } = get(KEYS.assignment);
    const parts = basics(get, 'commands');
    return createCommands({
      ...parts,
      owns: partitionOf(get).owns,
      slashPace: assignment && createSharedSlashPace(assignment.limits, parts.clock, parts.log),
      ...(!get(KEYS.discord).isNew && {
        syncedLists: () =>
          get(KEYS.storage)
            .collection('slash-commands', { scope: 'global', version: 1, schema: syncedListsSchema })
            .of(keyOfGroup(get(KEYS.gateway).client.application?.id ?? '', partitionOf(get))),
      }),
      audit: get(KEYS.audit),
      decisions: get(KEYS.messageDecisions),
      client: get(KEYS.gateway).client,
      prefixes: get(KEYS.prefixes).get,
      enabledIn: get(KEYS.enabledIn),
      choices: { ofGuild: get(KEYS.guildStates).peek, ofOwner: get(KEYS.ownerState).peek },
      pluginIds: () =>
        get(KEYS.plugins)
          .list()
          .map(({ id }) => id),
      access: get(KEYS.access),
      boundary: get(KEYS.boundary),
      claims: assignment?.claims ?? NO_CLAIMS,
      languages: get(KEYS.languages),
      metrics: get(KEYS.metrics).host,
    });
  });
  service(KEYS.components, (get) =>
    createComponents({
      ...basics(get, 'components'),
      audit: get(KEYS.audit),
      languages: get(KEYS.languages),
      enabledIn: get(KEYS.enabledIn),
      access: get(KEYS.access),
      boundary: get(KEYS.boundary),
      claims: get(KEYS.assignment).of?.claims ?? NO_CLAIMS,
      interactionRequests: get(KEYS.gateway).interactionRequests,
    }),
  );
  service(KEYS.responders, (get) =>
    createResponders({
      enabledIn: get(KEYS.enabledIn),
      boundary: get(KEYS.boundary),
      clock: get(KEYS.clock),
      pluginsIdle: () => get(KEYS.plugins).idle(),
    }),
  );
  service(KEYS.pages, (get) => {
    const own = createPages({
      ...basics(get, 'web'),
      audit: get(KEYS.audit),
      client: get(KEYS.gateway).client,
      languages: get(KEYS.languages),
      enabledIn: get(KEYS.enabledIn),
      access: get(KEYS.access),
      boundary: get(KEYS.boundary),
      commands: get(KEYS.commands),
    });
    const { of: assignment } = get(KEYS.assignment);
    return assignment === undefined ? own : sharePages(own, assignment, get(KEYS.clock));
  });
  service(KEYS.messageDecisions, () => createMessageDecisions());
  service(KEYS.messageOrigins, (get) => createMessageOrigins(get(KEYS.logs).logger('tools')));
  service(KEYS.accessRules, (get) => createAccessRules(get(KEYS.guildStates), get(KEYS.ownerState)));
  service(KEYS.tierRoles, (get) => createTierRoles(get(KEYS.guildStates)));
  service(KEYS.doctor, (get) => {
    const [config, clock, states, enabledIn] = [
      get(KEYS.config),
      get(KEYS.clock),
      get(KEYS.guildStates),
      get(KEYS.enabledIn),
    ];
    const owners = () => get(KEYS.plugins).owners();
    const log = get(KEYS.logs).logger('doctor');
    const own: Examine = (scopes) => {
      const checks = allChecks({
        config,
        clock,
        intents: () => get(KEYS.gateway).intents,
        plugins: owners().map(({ plugin, entrusted }) => ({ plugin, isBundled: entrusted === undefined })),
        isOnIn: async (guildId, plugin) => {
          await states.load(guildId);
          return enabledIn(guildId, plugin);
        },
        storage: get(KEYS.storage),
        environment: get(KEYS.secrets).environment(),
        configuration: get(KEYS.configuration),
        log,
      });
      return examine(
        checks.filter(({ scope }) => scopes?.includes(scope) ?? true),
        { clock, redact: (text) => get(KEYS.logs).redactor.text(text) },
      );
    };
    const { of: assignment } = get(KEYS.assignment);
    if (assignment === undefined) return { examine: async () => findingsOfAll({ findings: await own() }, []) };
    return shareDoctor(own, assignment, { languages: get(KEYS.languages), log });
  });
  service(KEYS.hostInfo, (get) => ({
    version: HOST_VERSION,
    startedAt: get(KEYS.clock).now(),
    isFirst: partitionOf(get).owns(null),
    member: get(KEYS.assignment).of?.member.name,
    installation: installationOf(get(KEYS.config)),
  }));
  service(KEYS.toolPolicies, (get) => createToolPolicies(get(KEYS.guildStates)));
  service(KEYS.tools, (get) => {
    const parts = basics(get, 'tools');
    const { of: assignment } = get(KEYS.assignment);
    const shared = assignment && {
      ...parts,
      requests: createAbortableRequests(assignment.channel, parts.log),
      identities: get(KEYS.identities),
      languages: get(KEYS.languages),
    };
    const own = createTools({
      ...parts,
      ...(assignment && shared && { shareEffects: (effects) => shareEffects(effects, assignment, shared) }),
      languages: get(KEYS.languages),
      access: get(KEYS.access),
      provenance: get(KEYS.provenance),
      boundary: get(KEYS.boundary),
      states: get(KEYS.guildStates),
      enabledIn: get(KEYS.enabledIn),
      guardsDown: (guildId) => get(KEYS.plugins).guards(guildId),
      store: createLedgerStore(get(KEYS.driver), get(KEYS.logs).logger('ledger'), get(KEYS.subjects)),
      ...ledgerOf(get(KEYS.config)),
      redact: (text) => get(KEYS.logs).redactor.text(text),
      audit: (entry) => get(KEYS.logs).audit({ ...entry }),
    });
    return assignment && shared ? shareTools(own, assignment, shared) : own;
  });
}

function registerPlugins(service: Register, onChange: (change: PluginChange) => void, loading: Loading): void {
  service(KEYS.services, (get) => createServices(get(KEYS.container)));
  service(KEYS.workers, (get) =>
    createWorkers(createWorkerPool({ log: get(KEYS.logs).logger('workers') }), {
      cacheDir: join(get(KEYS.config).buildCacheDir, 'workers'),
      hostVersion: HOST_VERSION,
    }),
  );
  service(KEYS.discover, (get) => discoveryOf(get(KEYS.config)));
  service(KEYS.pluginPackages, (get) => {
    const plugins = get(KEYS.plugins);
    const commands = get(KEYS.commands);
    const installer = createInstaller({
      config: get(KEYS.config),
      discover: get(KEYS.discover),
      running: plugins,
      async clashes(names, id) {
        const own = plugins.list().find((one) => one.id === id)?.effects ?? [];
        return names.filter(
          (name) => commands.has(name) && !own.includes(`command ${name}`) && !own.includes(`group ${name}`),
        );
      },
      intents: () => get(KEYS.gateway).intents,
      eraseData: (id) => get(KEYS.storage).eraseAll(id),
      random: get(KEYS.random),
      log: get(KEYS.logs).logger('plugins'),
    });
    return get(KEYS.assignment).of === undefined ? installer : unchanging(installer);
  });
  service(KEYS.plugins, (get) => {
    const { buildCacheDir, disabledPlugins } = get(KEYS.config);
    const log = get(KEYS.logs);
    const setupNeeds = createSetupNeeds(log.logger('plugins'));
    const diagnoses = createDiagnoses(log.logger('plugins'));
    const silences = createSilences(log.logger('plugins'));
    const services = {
      commands: get(KEYS.commands),
      components: get(KEYS.components),
      configuration: get(KEYS.configuration),
      events: get(KEYS.events),
      tools: get(KEYS.tools),
      responders: get(KEYS.responders),
      pages: get(KEYS.pages),
      services: get(KEYS.services),
      storage: get(KEYS.storage),
      personalData: get(KEYS.personalData),
      setupNeeds,
      diagnoses,
      silences,
      questions: createQuestions(get(KEYS.assignment).of, {
        boundary: get(KEYS.boundary),
        languageFor: (locale) => get(KEYS.languages).find(locale),
        log: log.logger('plugins'),
      }),
      boundary: get(KEYS.boundary),
      workers: get(KEYS.workers),
      metrics: get(KEYS.metrics),
      clock: get(KEYS.clock),
      client: get(KEYS.gateway).client,
      partition: partitionOf(get),
      async enabledIn(guildId: string, plugin: Plugin) {
        await get(KEYS.guildStates).load(guildId);
        return get(KEYS.enabledIn)(guildId, plugin);
      },
      environment: () => get(KEYS.secrets).environment(),
    };
    return createPluginManager({
      discover: get(KEYS.discover),
      loader: createLoader({ cacheDir: join(buildCacheDir, 'plugins'), hostVersion: HOST_VERSION, ...loading }),
      services: services.services,
      createContext: (owner) => createContext(owner, services),
      boundary: services.boundary,
      guildStates: get(KEYS.guildStates),
      ownerState: get(KEYS.ownerState),
      setupNeeds,
      diagnoses,
      silences,
      guardStore: createGuardStore(services.storage),
      clock: services.clock,
      log: log.logger('plugins'),
      disabled: disabledPlugins,
      onChange,
    });
  });
}

/** Processes of a cluster share no files. */
function secretStore(get: Get): SecretStore | undefined {
  const { dataDir, cluster } = get(KEYS.config);
  if (get(KEYS.assignment).of === undefined) return createSecretFile(join(dataDir, SECRETS_FILE));
  if (cluster?.secretKey === undefined) return undefined;
  const schema = encryptedSecret;
  const documents = get(KEYS.storage).collection('secrets', { scope: 'global', version: 1, schema, shared: true });
  return createSharedSecrets({ documents, key: cluster.secretKey, onGap: get(KEYS.storage).onGap });
}

function ledgerOf({ ledger }: HostConfig) {
  return ledger === undefined ? {} : { kept: ledger };
}

/** All groups of a process have its data folder. Other containers may have another one at the same path. */
function installationOf({ dataDir, installDir = dataDir }: HostConfig): string {
  const folder = resolve(installDir);
  const { dev = 0, ino = 0 } = statSync(folder, { throwIfNoEntry: false }) ?? {};
  return createHash('sha256').update(`${folder} ${dev} ${ino}`).digest('hex').slice(0, 16);
}
