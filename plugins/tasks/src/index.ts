import {
  Access,
  Accounts,
  Approvals,
  ChannelContexts,
  Clock,
  Commands,
  definePlugin,
  FrontDoor,
  Languages,
  Llm,
  modelFindings,
  modelNeed,
  needFindings,
  optional,
  Provenance,
  Random,
  sentenceOf,
  Tasks,
  Tools,
  t,
} from '@cinnabar/sdk';
import type { Message } from 'discord.js';
import { createFollowUpStore, followUpCollections, registerFollowUps } from './builtin/follow-ups.js';
import { registerBuiltinTools } from './builtin/tools.js';
import { registerCommands } from './commands.js';
import { createTaskContext, settings } from './context.js';
import { answerButtons, answerForm, createTaskIndex, handleMessage } from './discord/incoming-messages.js';
import { createSpeaker } from './discord/message-sender.js';
import { controlButtons, createComponents, createStatusBoard } from './discord/status-board.js';
import { createJournal, personalTasks, pruneEnded } from './journal/journal.js';
import { registerPage } from './page.js';
import { registerResponders, registerStartTool } from './responders.js';
import { START_TOOL } from './running/execute-step.js';
import { createSlots, createWatchdog, createWorkerPool, recover, WATCHDOG_MS } from './running/worker-pool.js';
import { isFinal, tasksCollection } from './task.js';
import { createMessages, createTasks } from './tasks.js';

/** Interval of taking over tasks, since a server that was unavailable at the start may become available later. */
const TAKE_OVER_MS = 20_000;
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
  collections: { ...followUpCollections, tasks: tasksCollection },
  inject: {
    access: Access,
    accounts: optional(Accounts),
    approvals: optional(Approvals),
    clock: Clock,
    commands: Commands,
    contexts: optional(ChannelContexts),
    frontDoor: optional(FrontDoor),
    languages: Languages,
    llm: optional(Llm),
    provenance: Provenance,
    random: Random,
    tools: Tools,
  },
  provides: [Tasks],
  setup(plugin) {
    const { client, collections, component, services, log, signal, on, every, defer } = plugin;
    const { clock, commands, frontDoor, languages, llm, random } = services;
    plugin.needsSetup(() => modelNeed(llm));
    const run = random.id();
    const journal = createJournal({ tasks: collections.tasks, run, clock, log });

    // Buttons are registered before the service that handles them exists.
    const control = component({ name: 'task', run: (interaction, args) => onControl(interaction, args) });
    const reply = component({ name: 'answer', run: (interaction, args) => onAnswer(interaction, args) });
    const form = component({ name: 'form', run: (interaction, args) => onForm(interaction, args) });
    const base = {
      ...services,
      client,
      log,
      signal,
      settings: plugin.settings,
      journal,
      slots: createSlots(),
      components: createComponents(control, reply),
    };
    const context = createTaskContext({
      ...base,
      speaker: createSpeaker(base),
      board: createStatusBoard(base),
      messages: createMessages(log),
    });
    const workers = createWorkerPool(context);
    const tasks = createTasks(context, workers);
    plugin.diagnose(async ({ actor, kind, name }) => {
      if (kind !== 'plugin' && name !== 'task' && name !== START_TOOL) return [];
      const need = modelNeed(llm);
      // Without a model, there is nothing else to report.
      const text = need === undefined ? await tasks.assertMayOpen(actor).then(() => undefined, sentenceOf) : undefined;
      const remedy = t('Stop a task, wait for one, or have an admin look at `set tasks`.');
      return [
        ...needFindings(need),
        ...(text === undefined ? [] : [{ ok: false, text: text.replace(/\.$/, ''), remedy }]),
        ...(await modelFindings(llm, actor)),
      ];
    });
    const onControl = controlButtons(context, tasks);
    const onAnswer = answerButtons(context, tasks, form);
    const onForm = answerForm(tasks);
    const index = createTaskIndex(journal);

    journal.onChange(context.board.show);
    context.slots.onOrder((waiting) => {
      for (const id of waiting) {
        const task = journal.peek(id);
        if (task !== undefined) context.board.show(task);
      }
    });
    registerCommands(plugin, context, tasks);
    registerPage(plugin, context, tasks);
    registerResponders(plugin, context, tasks);
    registerStartTool(plugin, context, tasks);
    registerFollowUps(plugin, context, tasks, createFollowUpStore(collections));
    registerBuiltinTools(plugin, clock, plugin.worker(new URL('./builtin/web/html-text.js', import.meta.url)));
    const meaningOf = (message: Message) => {
      const meaning = index.meaningOf(message);
      return meaning === undefined || commands.matches(message) ? undefined : meaning;
    };
    const unclaim = frontDoor?.claim((message) => meaningOf(message) !== undefined);
    if (unclaim !== undefined) defer(unclaim);
    on('messageCreate', (message) => {
      const meaning = meaningOf(message);
      if (meaning === undefined) return undefined;
      const by = { guildId: message.guildId, userId: message.author.id };
      return languages.speak(by, () => handleMessage(context, tasks, meaning, message));
    });
    on('guildMemberRemove', async ({ id, guild }) => {
      for (const { id: taskId, actor, status } of journal.live()) {
        if (actor.userId !== id || actor.guildId !== guild.id || isFinal(status)) continue;
        await languages.speak(actor, () =>
          workers.end(taskId, 'cancelled', { kind: 'gone', text: t('The member who asked for this has left.') }),
        );
      }
    });
    plugin.metrics.gauge({
      name: 'unfinished',
      help: 'Tasks that are not over, by status.',
      labels: ['status'],
      read: () => journal.live().flatMap(({ status }) => (isFinal(status) ? [] : [[{ status }, 1] as const])),
    });
    plugin.personalData(personalTasks(context, workers));
    plugin.provide(Tasks, tasks);

    const takeOver = () => recover(context, workers, index);
    // The guilds of this process are known only when the client is ready.
    const whenReady = (task: () => unknown) => () => (client.isReady() ? task() : undefined);
    plugin.ready(takeOver);
    every(TAKE_OVER_MS, whenReady(takeOver));
    every(WATCHDOG_MS, whenReady(createWatchdog(context, workers)));
    every(PRUNE_MS, async () => pruneEnded(journal, (await plugin.settings.global.get()).keepEnded));
    defer(async () => {
      await Promise.all([workers.leave(), context.board.close()]);
    });
  },
});
