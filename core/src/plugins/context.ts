import {
  type CheckResult,
  CinnabarError,
  type Clock,
  type Diagnosis,
  type DiagnosisSubject,
  type Disposer,
  type ErasedContext,
  type Logger,
  type Plugin,
  type SetupCheck,
  type SetupNeed,
  type SilenceReasons,
  t,
  z,
} from '@cinnabar/sdk';
import type { Client, Message } from 'discord.js';
import type { QuestionService } from '../cluster/questions.js';
import type { ConfigurationService } from '../config/configuration.js';
import type {
  Boundary,
  CommandService,
  ComponentService,
  Events,
  Owner,
  PersonalDataService,
  ResponderService,
  ServiceRegistry,
  StorageService,
  ToolService,
} from '../contracts.js';
import { missingIntent } from '../gateway/discord-sync.js';
import type { Partition } from '../gateway/partition.js';
import type { MetricsService } from '../observability/metrics.js';
import { boundTools } from '../tools/tools.js';
import type { PageService } from '../web/pages.js';
import type { WorkerService } from '../workers/pool.js';
import { openSchedule } from './schedules.js';

interface HostServices {
  readonly commands: CommandService;
  readonly components: ComponentService;
  readonly configuration: Pick<ConfigurationService, 'declare'>;
  readonly events: Events;
  readonly tools: ToolService;
  readonly responders: ResponderService;
  readonly pages: PageService;
  readonly services: ServiceRegistry;
  readonly storage: StorageService;
  readonly personalData: PersonalDataService;
  readonly setupNeeds: SetupNeeds;
  readonly diagnoses: Diagnoses;
  readonly silences: Silences;
  readonly questions: QuestionService;
  readonly boundary: Boundary;
  readonly workers: WorkerService;
  readonly metrics: MetricsService;
  readonly clock: Clock;
  readonly client: Client;
  readonly partition: Partition;
  readonly enabledIn: (guildId: string, plugin: Plugin) => Promise<boolean>;
  /** The current environment of plugins. */
  readonly environment: () => Readonly<Record<string, string | undefined>>;
}

/**
 * Makes the context that a plugin's `setup` receives: every registration function is bound to one run of the plugin.
 * @throws CinnabarError CINNABAR_CONFIG_INVALID, naming the environment variable that is invalid
 */
export function createContext(owner: Owner, host: HostServices): ErasedContext {
  const { plugin, scope, log } = owner;
  const { settings, collections, onChange } = host.storage.open(plugin);
  scope.add('settings and collections', () => host.storage.close(plugin));
  if (plugin.configuration !== undefined) {
    scope.add('keys of the configuration', host.configuration.declare(plugin.configuration));
  }
  const warned = new Set<string>();
  return {
    command: (definition) => host.commands.command(owner, definition),
    group: (definition) => host.commands.group(owner, definition),
    guildCommands: (made) => host.commands.guildCommands(owner, made),
    component: (definition) => host.components.component(owner, definition),
    on(event, handler, options) {
      const missing = missingIntent(event, plugin.manifest);
      if (missing !== undefined && !warned.has(missing)) {
        warned.add(missing);
        log.warn(`${plugin.manifest.id} may hear nothing: ${missing}`, { event });
      }
      return host.events.listen(owner, event, handler, options);
    },
    ready: (handler) => host.events.ready(owner, handler),
    tool: (definition) => host.tools.tool(owner, definition),
    responder: (definition) => host.responders.responder(owner, definition),
    page: (definition) => host.pages.page(owner, definition),
    route: (definition) => host.pages.addRoute(owner, definition),
    intercept: (interceptor) => host.tools.intercept(owner, interceptor),
    provide: (token, service) => host.services.provide(owner, token, service),
    personalData: (data) => host.personalData.register(owner, data),
    needsSetup: (check) => host.setupNeeds.register(owner, check),
    diagnose: (look) => host.diagnoses.register(owner, look),
    whySilent: (reasons) => host.silences.register(owner, reasons),
    settingsChanged: (handler) =>
      scope.add(
        'listener of its settings',
        onChange((change) =>
          host.boundary.run(owner, change.scope === 'guild' ? change.of : null, 'settings', () => handler(change)),
        ),
      ),
    every: (intervalMs, task) => every(owner, host, intervalMs, task),
    after: (delayMs, task) => after(owner, host, delayMs, task),
    schedule: (collection, definition) => openSchedule(owner, host, collection, definition),
    worker: (url) => host.workers.module(owner, url),
    question: (definition) => host.questions.question(owner, definition),
    metrics: host.metrics.of(owner),
    journal(name, definition) {
      const journal = host.storage.journal(plugin.manifest.id, name, definition);
      scope.add(`journal ${name}`, () => journal.release());
      return journal;
    },
    journals(options) {
      const journals = host.storage.journals(plugin.manifest.id, options);
      scope.add('journals', () => journals.release());
      return journals;
    },
    defer: (cleanup) => scope.add('cleanup', cleanup),
    signal: scope.signal,
    settings,
    collections,
    services: bound(host.services.resolve(plugin.inject), owner, host.tools),
    env: readEnvironment(plugin, owner.entrusted === undefined, host.environment()),
    client: host.client,
    log,
  };
}

function after(owner: Owner, { boundary, clock }: HostServices, delayMs: number, task: () => unknown): Disposer {
  let cancel: () => void = () => undefined;
  // Comes first, here and below, since a closed scope throws: no timer must be set then.
  const dispose = owner.scope.add(`timer once in ${delayMs} ms`, () => cancel());
  cancel = clock.after(delayMs, () => {
    void dispose();
    void boundary.run(owner, null, 'timer', task);
  });
  return dispose;
}

function every(owner: Owner, { boundary, clock }: HostServices, intervalMs: number, task: () => unknown): Disposer {
  let cancel: () => void = () => undefined;
  const next = () => {
    cancel = clock.after(intervalMs, () => void run());
  };
  const run = async () => {
    // The next interval starts when this run has ended, so that a slow task never overlaps itself.
    await boundary.run(owner, null, 'timer', task);
    if (!owner.scope.signal.aborted && !stopped) next();
  };
  let stopped = false;
  const dispose = owner.scope.add(`timer every ${intervalMs} ms`, () => {
    stopped = true;
    cancel();
  });
  next();
  return dispose;
}

/** The services that a plugin injects, with `Tools` bound to the plugin. */
function bound<S extends Readonly<Record<string, unknown>>>(services: S, owner: Owner, tools: ToolService): S {
  const own = boundTools(owner, tools);
  return Object.freeze({
    ...services,
    ...Object.fromEntries(
      Object.entries(services)
        .filter(([, one]) => one === tools)
        .map(([name]) => [name, own]),
    ),
  });
}

/** Variables that no plugin gets. */
const OF_HOST = ['DISCORD_TOKEN', 'CINNABAR_SECRET_KEY'];

/**
 * The environment variables that a plugin gets.
 * @param isBundled whether it comes with the host
 * @throws CinnabarError CINNABAR_CONFIG_INVALID, naming the variable that is invalid
 */
export function readEnvironment(
  plugin: Plugin,
  isBundled: boolean,
  environment: ReturnType<HostServices['environment']>,
): Readonly<Record<string, unknown>> {
  if (plugin.env === undefined) return {};
  // With a loose schema, a plugin reads variables whose names depend on its settings.
  const loose = plugin.env.def.catchall !== undefined && !(plugin.env.def.catchall instanceof z.ZodNever);
  // A third-party plugin gets the variables that it declares; no plugin gets the bot's token, or the key of its secrets.
  const wanted = Object.keys(loose && isBundled ? environment : plugin.env.shape).filter(
    (name) => !OF_HOST.includes(name),
  );
  // An empty variable counts as not set: `NAME=` in a .env file means that.
  const given = Object.fromEntries(wanted.flatMap((name) => (environment[name] ? [[name, environment[name]]] : [])));
  const parsed = plugin.env.safeParse(given);
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  const detail = `the environment variable ${String(issue?.path[0])} is not right: ${issue?.message}`;
  throw new CinnabarError('CINNABAR_CONFIG_INVALID', { detail });
}

export type SetupNeeds = ReturnType<typeof createSetupNeeds>;

/** Registers the plugins' checks of whether they are configured. */
export function createSetupNeeds(log: Logger) {
  const checks = new Map<string, Set<SetupCheck>>();
  return {
    register(owner: Owner, check: SetupCheck): Disposer {
      const own = checks.get(owner.id) ?? new Set();
      checks.set(owner.id, own.add(check));
      return owner.scope.add('check of its setup', () => own.delete(check));
    },
    /** The missing setup in the guild (`null`: direct messages); `undefined` when the plugin works, or has no check. Never rejects. */
    async of(guildId: string | null, id: string): Promise<SetupNeed | undefined> {
      for (const check of checks.get(id) ?? []) {
        try {
          const need = await check(guildId);
          if (need !== undefined) return need;
        } catch (error) {
          log.warn('a plugin could not say whether it is set up', { plugin: id, guildId, error });
        }
      }
      return undefined;
    },
  };
}

export type Silences = ReturnType<typeof createSilences>;

/** Registers the plugins' functions that give reasons for messages without an answer. */
export function createSilences(log: Logger) {
  const known = new Set<{ readonly owner: Owner; readonly reasons: SilenceReasons }>();
  return {
    register(owner: Owner, reasons: SilenceReasons): Disposer {
      const entry = { owner, reasons };
      known.add(entry);
      return owner.scope.add('reasons of its silence', () => known.delete(entry));
    },
    /** The reasons of all plugins for one message. Never rejects. @param isOn whether a plugin is switched on where the message is */
    async of(message: Message, isOn: (id: string) => boolean): Promise<readonly string[]> {
      const found: string[] = [];
      for (const { owner, reasons } of known) {
        if (!isOn(owner.id)) continue;
        try {
          found.push(...(await reasons(message)));
        } catch (error) {
          log.warn('a plugin could not say why it was silent', { plugin: owner.id, error });
        }
      }
      return found;
    },
  };
}

export type Diagnoses = ReturnType<typeof createDiagnoses>;

/** Registers the plugins' checks of the services that they need. */
export function createDiagnoses(log: Logger) {
  const looks = new Map<string, Set<Diagnosis>>();
  return {
    register(owner: Owner, look: Diagnosis): Disposer {
      const own = looks.get(owner.id) ?? new Set();
      looks.set(owner.id, own.add(look));
      return owner.scope.add('diagnosis', () => own.delete(look));
    },
    /** Runs the checks of one plugin. A check that throws is a finding. Never rejects. */
    async of(id: string, about: DiagnosisSubject): Promise<readonly CheckResult[]> {
      const findings: CheckResult[] = [];
      for (const look of looks.get(id) ?? []) {
        try {
          findings.push(...(await look(about)));
        } catch (error) {
          log.warn('a plugin could not say what it needs', { plugin: id, error });
          const text = t('the plugin "{plugin}" could not check what it needs', { plugin: id });
          findings.push({
            ok: false,
            text,
            remedy: t('Try again. If the problem continues, look at the log of the bot.'),
          });
        }
      }
      return findings;
    },
  };
}
