import { definePlugin, type SetupNeed, t } from '@cinnabar/sdk';
import { registerAgentPage } from './agent-page.js';
import { createMessageAuthors } from './agents/message-authors.js';
import { cancelForbidden, createAgentPermissions, PLUGIN } from './agents/permissions.js';
import { createDmAgents, createProfiles, openRosters, targetOf } from './agents/roster.js';
import { createBudget } from './budget.js';
import { agentCommands } from './commands/agents.js';
import { configCommand, switchCommands } from './commands/config.js';
import { directCommands } from './commands/direct.js';
import { grantCommands } from './commands/grants.js';
import { setupCommand } from './commands/setup.js';
import { contextCommand, createDiagnosis, statusCommands } from './commands/status.js';
import {
  collections,
  env,
  inject,
  type Relay,
  type RelayContext,
  type RelayCore,
  type RelayStores,
} from './context.js';
import { createDeliver } from './delivery/deliver.js';
import { createOutageNotices, onDropped, onFailed } from './delivery/notices.js';
import { createErrorLog } from './error-log.js';
import { personalData } from './events/event.js';
import { onConsent, respond } from './intake/respond.js';
import { createLettaServers } from './letta/agents.js';
import { approveTool, createApprovalCards } from './letta/approvals.js';
import { checkLetta } from './letta/client.js';
import { registerPage } from './page.js';
import { openDigests } from './presence/digests.js';
import { createOwnThreads, listenForMessages, listenForReactions } from './presence/messages.js';
import { wakeCommand, wakeDue } from './presence/wakes.js';
import { createBreakers } from './queue/attempts.js';
import { openRelayQueue, type QueueRules, type RelayQueue } from './queue/queue.js';
import { createQueueJournal } from './queue/state.js';
import { rulesIn, settings } from './settings.js';

export default definePlugin({
  manifest: {
    id: 'relay',
    version: '0.1.0',
    description: 'Letta agents that live in the guild',
    host: '^0.1.0',
    intents: ['Guilds', 'GuildMessages', 'GuildMessageReactions', 'DirectMessages', 'MessageContent'],
    permissions: ['ViewChannel', 'SendMessages', 'SendMessagesInThreads', 'ReadMessageHistory'],
    administrative: true,
  },
  settings,
  collections,
  env,
  inject,
  checks: async ({ settings, env: variables }) => checkLetta(await settings.global.get(), variables),
  setup: start,
});

/** Interval of the check whether running deliveries are still allowed. */
const PERMISSION_CHECK_MS = 2_000;
/** Interval of the check for due digests and wake-ups. */
const PRESENCE_CHECK_MS = 30_000;

/** Starts the relay: events come in (`intake`, `presence`), wait (`queue`), and are delivered to agents (`delivery`). */
async function start(context: RelayContext): Promise<void> {
  const { collections, services, client, log } = context;
  const { clock, identities, notices } = services;
  const stores: RelayStores = {
    ...context,
    ...services,
    rosters: await openRosters(context),
    dmAgents: createDmAgents(context),
    authors: createMessageAuthors(collections.posts),
    ownThreads: createOwnThreads(collections.startedThreads, client),
    budget: createBudget(context),
    errors: createErrorLog(collections.errors, clock),
    breakers: createBreakers(clock, log, (agent) => {
      void relay.outages.breakerOpened(agent);
      notices.alert({
        kind: 'agent-resting',
        text: () =>
          t('The Letta agent {agent} failed five times in a row, so it was not asked for half a minute.', { agent }),
        remedy: () =>
          t('`!relay status` and `!relay errors` show its state; if the problem continues, look at the Letta server.'),
      });
    }),
  };
  const core: RelayCore = {
    ...stores,
    letta: createLettaServers(context, createApprovalCards(stores)),
    permissions: createAgentPermissions(stores),
  };
  context.defer(identities.object(PLUGIN, core.permissions.objection));
  context.defer(identities.giveProfiles(PLUGIN, createProfiles(core)));
  context.tool(approveTool);
  context.defer(services.tools.onSettled(core.authors.onToolCall));
  const queue = await openQueue(core);
  context.defer(() => queue.stop());
  const relay: Relay = { ...core, queue, outages: createOutageNotices(core, queue) };

  publishMetrics(relay);
  context.every(PERMISSION_CHECK_MS, async () => {
    for (const guildId of queue.busyGuilds()) await cancelForbidden(guildId, relay);
  });
  const consentButton = context.component({ name: 'consent', run: onConsent(relay) });
  context.responder({
    name: PLUGIN,
    description: 'Brings it to a Letta agent that lives here, which answers with tools',
    typesItself: true,
    queues: true,
    respond: (turn) => respond(turn, consentButton, relay),
  });
  context.needsSetup((guildId) => needIn(guildId, relay));
  context.diagnose(createDiagnosis(relay));
  await startPresence(relay);
  registerCommands(relay);
  registerPage(relay, relay);
  registerAgentPage(relay, relay);
  context.personalData(personalData(relay));
  // Loading the agents denies approval requests that an earlier process left open; otherwise the next message would.
  context.ready(() => core.letta.agents().catch((error: unknown) => log.info('no Letta server yet', { error })));
}

/** Starts the sources of events that do not address an agent. */
async function startPresence(relay: Relay): Promise<void> {
  const digests = await openDigests(relay);
  if (relay.frontDoor !== undefined) listenForMessages(relay, relay.frontDoor, digests);
  listenForReactions(relay);
  relay.every(PRESENCE_CHECK_MS, async () => {
    await digests.sendDue();
    await wakeDue(relay);
  });
}

/** Registers `!relay …` and its slash commands. */
function registerCommands(relay: Relay): void {
  relay.group({
    name: 'relay',
    description: 'Letta agents that live here',
    help: 'Set one up in five steps: `relay agent <id>`, `relay enable`, `ai use relay`, `relay setup`, and say something to me.',
    commands: [
      ...agentCommands(relay),
      setupCommand(relay),
      ...switchCommands(relay),
      ...grantCommands(relay),
      directCommands(relay),
      configCommand(relay),
      ...statusCommands(relay),
      contextCommand(relay),
      wakeCommand(relay),
    ],
  });
}

/** Why no agent answers in a guild. In direct messages, each member chooses whether an agent answers. */
function needIn(guildId: string | null, { rosters }: Relay): SetupNeed | undefined {
  if (guildId === null) return undefined;
  const roster = rosters.of(guildId);
  if (roster === undefined || Object.keys(roster.agents).length === 0) {
    const remedy = t(
      'Use `relay agent <id>` with the id of an agent at the Letta server, then `relay enable` and `relay setup`.',
    );
    return { problem: t('No agent lives in this server.'), remedy };
  }
  return roster.enabled
    ? undefined
    : { problem: t('The agents of this server are switched off.'), remedy: t('Use `relay enable`.') };
}

function publishMetrics({ metrics, queue, breakers }: Relay): void {
  metrics.gauge({
    name: 'queue_events',
    help: 'Events that agents have not been told of yet, those on their way included.',
    read: () => queue.totals().events,
  });
  metrics.gauge({
    name: 'queue_sending',
    help: 'Channels whose agent is at work.',
    read: () => queue.totals().sending,
  });
  metrics.gauge({
    name: 'breaker_open',
    help: 'Whether the circuit breaker of an agent keeps prompts from it (1) or not (0).',
    labels: ['agent'],
    read: () => breakers.list().map(([agent, { state }]) => [{ agent }, state === 'closed' ? 0 : 1]),
  });
}

/** An attempt may take its own time, that of this many attempts before it at the same agent, and the time that people take for decisions. */
const MOST_AHEAD = 10;
const DECISIONS_MS = 15 * 60_000;
/** Number of channels that are served at the same time. */
const BOUNDS = { total: 64, perGuild: 16 };

/** Opens the queue with the events of an earlier process. Nothing is delivered before the bot is connected. */
async function openQueue(core: RelayCore): Promise<RelayQueue> {
  const { settings, rosters, letta, notices, clock, log, signal } = core;
  const connected = new Promise<void>((resolve) => {
    core.ready(resolve);
    signal.addEventListener('abort', () => resolve(), { once: true });
  });
  const rulesFor = async (guildId: string | null): Promise<QueueRules> => {
    const rules = await rulesIn(settings, guildId);
    return {
      rateLimitMs: rules.rate_limit_seconds * 1000,
      maxQueueSize: rules.max_queue_size,
      whenFull: rules.whenFull,
      attemptLimitMs: MOST_AHEAD * rules.agent_timeout * 1000 + DECISIONS_MS,
      paused: guildId !== null && rosters.of(guildId)?.paused === true,
    };
  };
  return openRelayQueue({
    store: createQueueJournal((definition) => core.journal('queue', definition), clock, log),
    rulesFor,
    agentFor: async (event) => letta.globalName((await targetOf(event, core))?.agentId ?? 'nobody'),
    deliver: createDeliver(core, connected),
    breakers: core.breakers,
    clock,
    random: core.random,
    log,
    bound: () => BOUNDS,
    onDropped: (drop) => onDropped(drop, core),
    onFailed: (failure) => onFailed(failure, core),
    onStall: ({ channelId, problem }) =>
      notices.alert({
        kind: 'relay-queue-stalled',
        text: () =>
          t(
            'The queue of the relay stood still for the channel <#{channelId}> ({problem}). I have set it going again.',
            { channelId, problem },
          ),
        remedy: () => t('Look into the log for what went before. If it happens again, restart the bot and report it.'),
      }),
  });
}
