import {
  Access,
  Accounts,
  Clock,
  Commands,
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
import { ownActions } from './actions/own.js';
import { createRegistry } from './actions/registry.js';
import { cardCollections, createCardStore } from './cards/store.js';
import { registerCommands } from './commands/register.js';
import { followChanges } from './conversation/follow.js';
import { conversations as conversationCollection, createConversationStore } from './conversation/store.js';
import { embedWith } from './embed.js';
import { createMemories } from './memory/memories.js';
import { personalData } from './personal-data.js';
import { createPersonas } from './personas.js';
import { CHAINS } from './planning/chains.js';
import { createAllowance, initiatives } from './proactive/allowance.js';
import { answerToName } from './proactive/called-by-name.js';
import { noticeJoins } from './proactive/joins.js';
import { noticeReactions } from './proactive/reactions.js';
import { listen, TICK_MS, tick } from './proactive/tick.js';
import { analyseRepetition } from './repetition/analyse.js';
import { createBackground } from './running/background.js';
import { createCallLog } from './running/calls.js';
import { createEventHub } from './running/events.js';
import { createInTurn } from './running/in-turn.js';
import { respond } from './running/respond.js';
import { showThoughts, thoughtThreads } from './running/thoughts.js';
import { createTraceStore, traces as traceCollection } from './running/trace.js';
import { settings, settingsIn } from './settings.js';
import { createPersonaStore, personaCollections } from './state/store.js';

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
    const inTurn = createInTurn();
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
      inTurn,
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
