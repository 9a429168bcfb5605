import {
  Access,
  Accounts,
  Clock,
  Commands,
  createKeyedMutex,
  definePlugin,
  Files,
  FrontDoor,
  Ledger,
  Llm,
  modelNeed,
  optional,
  PersonaActions,
  Personas,
  Plugins,
  Prefixes,
  Provenance,
  Random,
  Tools,
} from '@cinnabar/sdk';
import { createRegistry } from './actions/action-registry.js';
import { CHAINS, ownActions } from './actions/builtin-actions.js';
import { cardCollections, createCardStore } from './cards/card-store.js';
import { registerCommands } from './commands/register.js';
import { conversations as conversationCollection, createConversationStore } from './conversation/conversation-store.js';
import { followChanges } from './conversation/message-changes.js';
import { embedWith } from './embed.js';
import { createMemories } from './memory/memories.js';
import { personalData } from './personal-data.js';
import { createPersonas } from './personas.js';
import { answerToName } from './proactive/called-by-name.js';
import { noticeJoins, noticeReactions } from './proactive/noticing.js';
import { createAllowance, initiatives, listen, TICK_MS, tick } from './proactive/unasked-runs.js';
import { analyseRepetition } from './repetition/analyse.js';
import { createCallLog } from './running/after-run.js';
import { createBackground } from './running/background.js';
import { createEventHub } from './running/event-emitter.js';
import { respond } from './running/run.js';
import { showThoughts, thoughtThreads } from './running/thought-threads.js';
import { createTraceStore, traces as traceCollection } from './running/trace.js';
import { settings, settingsIn } from './settings.js';
import { createPersonaStore, personaCollections } from './state/persona-store.js';

export default definePlugin({
  manifest: {
    id: 'persona',
    version: '1.0.0',
    description: 'A mind that plans its actions: thinks, feels, remembers, speaks or stays silent',
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
    files: Files,
    frontDoor: optional(FrontDoor),
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
    const { clock, files, plugins, random } = services;
    const settingsFor = (guildId: string | null) => settingsIn(context.settings.guild, guildId);
    const memories = createMemories({
      folder: () => files.folder('persona'),
      files,
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
    const store = createPersonaStore({ ...services, collections, client, memories, conversations, settingsFor });
    const traces = createTraceStore(collections.traces);
    const hub = createEventHub(log);
    const background = createBackground(log);
    const calls = createCallLog();
    const channelMutex = createKeyedMutex();
    const registry = createRegistry(
      {
        actions: ownActions({ memories, store, conversations, tools: services.tools, calls, held: () => parts }),
        chains: CHAINS,
      },
      plugins,
    );
    const parts = {
      ...services,
      analyse: analyseRepetition,
      background,
      calls,
      cards: createCardStore(collections, store, random),
      cardFiles: context.worker<typeof import('./cards/worker.js')>(new URL('./cards/worker.js', import.meta.url)),
      client,
      conversations,
      hub,
      channelMutex,
      log,
      memories,
      registry,
      settingsFor,
      signal,
      store,
      traces,
    };
    context.needsSetup(() => modelNeed(services.llm));
    responder({
      name: 'persona',
      description: 'Plans what to do: thinks, feels, remembers, speaks or stays silent',
      respond: (turn) => respond(turn, parts),
    });
    registerCommands(context, parts);
    const { channelPersonas, channelCards, thoughtThreads: threads } = collections;
    followChanges({
      ...context,
      ...parts,
      async forgetChannel(id) {
        await Promise.all([channelPersonas, channelCards, threads].map((collection) => collection.of(id).delete()));
      },
    });
    defer(background.idle);
    defer(showThoughts({ ...parts, threads }));
    const proactive = { ...parts, allowance: createAllowance(collections.initiatives, clock) };
    const joins = noticeJoins(context, proactive);
    const callsByName = answerToName(context, proactive);
    noticeReactions(context, proactive);
    context.ready(() => listen({ ...proactive, joins, callsByName }));
    every(TICK_MS, () => tick({ ...proactive, joins, callsByName }));
    provide(PersonaActions, registry);
    provide(Personas, createPersonas(parts));
    context.personalData(personalData({ ...services, client, collections, conversations, traces, memories }));
  },
});
