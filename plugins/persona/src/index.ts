import {
  Access,
  Accounts,
  Clock,
  Commands,
  createAskFirst,
  createKeyedMutex,
  definePlugin,
  FrontDoor,
  Languages,
  Ledger,
  Llm,
  type Logger,
  modelFindings,
  modelNeed,
  optional,
  PersonaActions,
  Personas,
  Plugins,
  Prefixes,
  Provenance,
  Random,
  type Registrar,
  Tools,
} from '@cinnabar/sdk';
import { createActionRegistry } from './actions/action.js';
import { builtinActions, CHAINS } from './actions/builtin-actions.js';
import { exportCommand, importCommand } from './commands/cards.js';
import { createCommand, editCommand, registerForm, resetCommand } from './commands/edit.js';
import { memoriesCommand } from './commands/memories.js';
import { desiresCommand, goalsCommand, moodCommand, showCommand, traceCommand, undoCommand } from './commands/state.js';
import { type PersonaContext, SHAPE, settings } from './context.js';
import { conversations as conversationCollection, createConversationStore } from './conversation/conversation-store.js';
import { followChanges } from './conversation/conversation-sync.js';
import { createMemories } from './memory/memories.js';
import { embedWith } from './memory/memory-index.js';
import { registerPage } from './page.js';
import { personalData } from './personal-data.js';
import {
  answerToName,
  createAllowance,
  initiatives,
  listen,
  noticeJoins,
  noticeReactions,
  silenceOf,
  TICK_MS,
  tick,
} from './proactive.js';
import {
  createEventHub,
  createTraceStore,
  showThoughts,
  thoughtThreads,
  traces as traceCollection,
} from './running/events.js';
import { respond } from './running/run.js';
import { cardCollections, createCardStore, createPersonaStore, personaCollections } from './state/persona-store.js';
import { visibleTo } from './state/state.js';

export default definePlugin({
  manifest: {
    id: 'persona',
    version: '1.0.0',
    description: 'A persona that plans its actions: thinks, feels, remembers, speaks or stays silent',
    host: '^0.1.0',
    intents: ['Guilds', 'GuildMessages', 'GuildMessageReactions', 'DirectMessages', 'MessageContent'],
    optionalIntents: ['GuildMembers'],
    permissions: ['ViewChannel', 'ReadMessageHistory', 'SendMessages'],
    administrative: true,
  },
  settings,
  collections: {
    ...personaCollections,
    ...cardCollections,
    conversations: conversationCollection,
    traces: traceCollection,
    initiatives,
    thoughtThreads,
  },
  inject: {
    access: Access,
    accounts: optional(Accounts),
    clock: Clock,
    commands: Commands,
    frontDoor: optional(FrontDoor),
    languages: Languages,
    ledger: Ledger,
    llm: optional(Llm),
    plugins: Plugins,
    prefixes: Prefixes,
    provenance: Provenance,
    random: Random,
    tools: Tools,
  },
  provides: [PersonaActions, Personas],
  async setup(context) {
    const { client, collections, defer, every, log, provide, responder, services, signal } = context;
    const { clock, plugins, random } = services;
    const settingsFor = (guildId: string | null) => context.settings.guild(guildId).get();
    const memories = createMemories({
      journals: context.journals(),
      clock,
      random,
      log,
      after: context.after,
      self: () => client.user?.id,
      embed: services.llm && embedWith(services.llm),
      capacity: (await context.settings.global.get()).memories,
    });
    defer(memories.close);
    const conversations = createConversationStore(collections.conversations);
    const store = createPersonaStore(collections, { ...services, client, memories, conversations, settingsFor });
    const traces = createTraceStore(collections.traces);
    const hub = createEventHub(log);
    const registry = createActionRegistry(
      builtinActions({ memories, store, conversations }, () => persona),
      CHAINS,
      plugins,
    );
    const persona: PersonaContext = {
      ...services,
      allowance: createAllowance(collections.initiatives, clock),
      background: createBackground(log),
      cards: createCardStore(collections, store, random),
      cardFiles: context.worker<typeof import('./cards/worker.js')>(new URL('./cards/worker.js', import.meta.url)),
      client,
      conversations,
      hub,
      log,
      memories,
      registry,
      runs: createKeyedMutex(),
      settingsFor,
      guildsWithSettings: context.settings.guild.changedIn,
      signal,
      store,
      traces,
    };
    context.needsSetup(() => modelNeed(services.llm));
    context.diagnose(({ actor, kind }) => (kind === 'plugin' ? modelFindings(services.llm, actor) : []));
    responder({
      name: 'persona',
      description: 'Plans what to do: thinks, feels, remembers, speaks or stays silent',
      respond: (turn) => respond(turn, persona),
    });
    registerCommands(context, persona);
    registerPage(context, persona);
    const { channelPersonas, channelCards, thoughtThreads: threads } = collections;
    followChanges(context, persona, async (id) => {
      await Promise.all([channelPersonas, channelCards, threads].map((collection) => collection.of(id).delete()));
    });
    defer(persona.background.idle);
    defer(showThoughts(threads, persona));
    const watchers = { joins: noticeJoins(context, persona), callsByName: answerToName(context, persona) };
    noticeReactions(context, persona);
    context.whySilent(silenceOf(persona));
    context.ready(() => listen(watchers, persona));
    every(TICK_MS, () => tick(watchers, persona));
    context.settingsChanged(async ({ scope, of }) => {
      if (scope !== 'guild' || of === null) return;
      // If the setting is off again, the next round unsubscribes.
      const { answersToName, onJoin } = await persona.settingsFor(of);
      if (answersToName) await watchers.callsByName.watch(true);
      if (onJoin) await watchers.joins.watch(true);
    });
    provide(PersonaActions, registry);
    provide(Personas, personasFor(persona));
    context.personalData(personalData(collections, persona));
  },
});

/** The service that pages and other plugins use. */
function personasFor({ store, hub, traces, client }: PersonaContext): Personas {
  return {
    async state(place) {
      const { state, version } = await store.read(place);
      const { name, description, mood, appearance, environment, goals, desires } = state;
      const texts = (items: typeof goals) => visibleTo(items, store.audienceAt(place)).map(({ text }) => text);
      return {
        name: name || (client.user?.displayName ?? ''),
        description,
        mood: { name: mood.name, intensity: mood.intensity },
        appearance,
        environment,
        goals: texts(goals),
        desires: texts(desires),
        version,
      };
    },
    subscribe: hub.subscribe,
    recent: traces.recent,
  };
}

function createBackground(log: Logger): PersonaContext['background'] {
  const running = new Set<Promise<void>>();
  return {
    run(what: string, task: () => Promise<void>): void {
      const work = task()
        .catch((error: unknown) => log.warn(`${what} failed`, { error }))
        .finally(() => running.delete(work));
      running.add(work);
    },
    // Deferred, because the plugin's signal has aborted by then and ends long work.
    async idle(): Promise<void> {
      while (running.size > 0) await Promise.all(running);
    },
  };
}

function registerCommands(registrar: Pick<Registrar, 'group' | 'component'>, persona: PersonaContext): void {
  const form = registerForm(registrar, persona);
  const askFirst = createAskFirst({ component: registrar.component, ...persona, access: SHAPE });
  registrar.group({
    name: 'persona',
    description: 'The persona: who it is, how it feels, what it remembers',
    commands: [
      createCommand(persona),
      editCommand(persona, form),
      showCommand(persona),
      importCommand(persona),
      exportCommand(persona),
      moodCommand(persona),
      goalsCommand(persona),
      desiresCommand(persona),
      memoriesCommand(persona),
      traceCommand(persona),
      resetCommand(persona, askFirst),
      undoCommand(persona),
    ],
  });
}
