import {
  Access,
  Accounts,
  type Actor,
  Approvals,
  ChannelContexts,
  Clock,
  Commands,
  definePlugin,
  FrontDoor,
  Llm,
  modelNeed,
  optional,
  Provenance,
  Random,
  sanitizeName,
  Tasks,
  Tools,
} from '@cinnabar/sdk';
import type { Message } from 'discord.js';
import { followUpsCollection } from './builtin/follow-ups.js';
import { registerBuiltinTools } from './builtin/tools.js';
import { registerCommands } from './commands.js';
import { backgroundOf } from './context/background.js';
import { answerButtons, answerForm, takeMessage } from './discord/answers.js';
import { controlButtons, createComponents } from './discord/buttons.js';
import { createTyping, isStillThere } from './discord/channels.js';
import { createSpeaker } from './discord/message-sender.js';
import { createNotices } from './discord/notices.js';
import { createStatusBoard } from './discord/status-board.js';
import { createTaskIndex } from './discord/task-index.js';
import { createPlaces } from './discord/task-thread.js';
import { createJournal, pruneEnded } from './journal/journal.js';
import { personalTasks } from './journal/personal-data.js';
import { createRuns, HEARTBEAT_MS, runsCollection } from './journal/runs.js';
import { registerResponders, registerStartTool } from './responders.js';
import { createWatchdog, WATCHDOG_MS } from './running/watchdog.js';
import { createEnds, createSlots, createWorkerPool, recover } from './running/worker-pool.js';
import { settings } from './settings.js';
import { isFinal, tasksCollection } from './task.js';
import { createMessages, createTasks } from './tasks.js';

const PRUNE_MS = 3_600_000;

export default definePlugin({
  manifest: {
    id: 'tasks',
    version: '0.1.0',
    description: 'Autonomous tasks: works step by step, asks, reports, and stops when told to',
    host: '^0.1.0',
    intents: ['Guilds', 'GuildMessages', 'DirectMessages', 'MessageContent'],
    optionalIntents: ['GuildMembers'],
    permissions: [
      'ViewChannel',
      'SendMessages',
      'SendMessagesInThreads',
      'CreatePublicThreads',
      'ReadMessageHistory',
      'AddReactions',
      'AttachFiles',
    ],
    administrative: true,
  },
  settings,
  collections: { followUps: followUpsCollection, tasks: tasksCollection, runs: runsCollection },
  inject: {
    access: Access,
    accounts: optional(Accounts),
    approvals: optional(Approvals),
    clock: Clock,
    commands: Commands,
    contexts: optional(ChannelContexts),
    frontDoor: optional(FrontDoor),
    llm: optional(Llm),
    provenance: Provenance,
    random: Random,
    tools: Tools,
  },
  provides: [Tasks],
  setup(context) {
    const { client, collections, component, services, log, signal, on, every, defer } = context;
    const { access, accounts, approvals, clock, commands, contexts, frontDoor, llm, provenance, random, tools } =
      services;
    context.needsSetup(() => modelNeed(llm));
    const run = random.id();
    const journal = createJournal({ tasks: collections.tasks, run, clock, log });
    const runs = createRuns({ runs: collections.runs, run, clock });
    const slots = createSlots();
    const messages = createMessages(log);
    const selfName = (guildId: string | null) => {
      const member = guildId === null ? undefined : client.guilds.cache.get(guildId)?.members.me;
      return sanitizeName(member?.displayName ?? client.user?.displayName ?? 'Assistant');
    };

    // Buttons are made before the service that answers them.
    const control = component({ name: 'task', run: (interaction, args) => onControl(interaction, args) });
    const reply = component({ name: 'answer', run: (interaction, args) => onAnswer(interaction, args) });
    const form = component({ name: 'form', run: (interaction, args) => onForm(interaction, args) });
    const components = createComponents(control, reply);
    const shared = { client, clock, log, components, signal };
    const board = createStatusBoard({ ...shared, placeOf: slots.placeOf });
    const settle = createPlaces({ ...shared, journal, settings: context.settings });
    const speaker = createSpeaker(shared);
    const notices = createNotices(shared);
    const runParts = {
      journal,
      slots,
      speaker,
      notices,
      showTyping: createTyping(shared),
      board,
      settings: context.settings,
      llm,
      tools,
      access,
      provenance,
      accounts,
      approvals,
      clock,
      log,
      signal,
      selfName,
      isStillThere: (actor: Actor) => isStillThere(client, actor),
      tell: messages.tell,
      settle,
    };
    const workers = createWorkerPool(runParts);
    const ends = createEnds({ workers, journal });
    const nameOf = async ({ userId, guildId }: Actor) => {
      const guild = guildId === null ? undefined : client.guilds.cache.get(guildId);
      const member = guild?.members.cache.get(userId);
      const { displayName } = member ?? (await client.users.fetch(userId));
      return sanitizeName(displayName) || `member ${userId}`;
    };
    const service = createTasks({
      ...runParts,
      workers,
      ends,
      random,
      messages,
      nameOf,
      backgroundOf: (request) => backgroundOf({ client, access, contexts, log }, request),
    });
    const onControl = controlButtons({ ...runParts, tasks: service });
    const index = createTaskIndex(journal);
    const answering = { tasks: service, journal, access, settings: context.settings, log };
    const onAnswer = answerButtons(answering, form);
    const onForm = answerForm(service);

    journal.onChange((task) => board.show(task));
    slots.onOrder((waiting) => {
      for (const id of waiting) {
        const task = journal.peek(id);
        if (task !== undefined) board.show(task);
      }
    });
    registerCommands(context, { access, provenance, tasks: service, approvals });
    registerResponders(context, { tasks: service, llm, contexts, selfName, log, random });
    registerStartTool(context, service, llm);
    const followUps = { store: collections.followUps, tasks: service, client, clock, random, log, llm };
    const pages = context.worker<typeof import('./builtin/web/worker.js')>(
      new URL('./builtin/web/worker.js', import.meta.url),
    );
    registerBuiltinTools(context, followUps, pages);
    const meaningOf = (message: Message) => {
      const meaning = index.meaningOf(message);
      return meaning === undefined || commands.matches(message) ? undefined : meaning;
    };
    const unclaim = frontDoor?.claim((message) => meaningOf(message) !== undefined);
    if (unclaim !== undefined) defer(unclaim);
    on('messageCreate', (message) => {
      const meaning = meaningOf(message);
      return meaning === undefined ? undefined : takeMessage(answering, meaning, message);
    });
    on('guildMemberRemove', async ({ id, guild }) => {
      for (const { id: taskId, actor, status } of journal.live()) {
        if (actor.userId !== id || actor.guildId !== guild.id || isFinal(status)) continue;
        await ends.end(taskId, 'cancelled', { kind: 'gone', text: 'Whoever asked for this has left.' });
      }
    });
    context.metrics.gauge({
      name: 'unfinished',
      help: 'Tasks that are not over, by status.',
      labels: ['status'],
      read: () => journal.live().flatMap(({ status }) => (isFinal(status) ? [] : [[{ status }, 1] as const])),
    });
    context.personalData(personalTasks({ journal, ends, provenance }));
    context.provide(Tasks, service);

    const parts = { ...runParts, workers, ends };
    const takeOver = () => recover({ ...parts, runs, client, index });
    // Until it is known where this process is, nothing can be taken over.
    const whenReady = (task: () => unknown) => () => (client.isReady() ? task() : undefined);
    context.ready(takeOver);
    every(HEARTBEAT_MS, whenReady(takeOver));
    every(WATCHDOG_MS, whenReady(createWatchdog(parts)));
    every(PRUNE_MS, async () => pruneEnded(journal, (await context.settings.global.get()).keepEnded));
    defer(async () => {
      await Promise.all([workers.leave(), board.close()]);
      await runs.end();
    });
  },
});
