import type { SetupNeed } from '@cinnabar/sdk';
import { approveTool, createAsking } from './agents/approval-card.js';
import { createDirects } from './agents/dm-agents.js';
import { agentKeyOf, PLUGIN } from './agents/grants.js';
import { createPosts, createWatch } from './agents/message-authors.js';
import { CHECK_MS, createStanding, cutOff, cutOffWhatMayNot } from './agents/permissions.js';
import { createProfiles, openRosters, type Rosters } from './agents/roster.js';
import { createBudget } from './budget.js';
import { registerCommands } from './commands/register.js';
import type { RelayContext } from './context.js';
import { createOutageNotices } from './delivery/notices.js';
import { openQueue } from './delivery/open-queue.js';
import { createErrorLog } from './error-log.js';
import { isShut, onConsent } from './intake/consent.js';
import { offer, respond } from './intake/respond.js';
import { createAgents, createLettaServers } from './letta/agents.js';
import { publishMetrics } from './metrics.js';
import { personalData } from './personal-data.js';
import { createOwnThreads } from './presence/messages.js';
import { startPresence } from './presence/start.js';
import { createBreakers } from './queue/breakers.js';

/** Puts the rooms together: what happens is taken (`taking`, `presence`), waits (`queue`), and is told (`telling`). */
export async function start(context: RelayContext): Promise<void> {
  const { collections, settings, services, env, client, log } = context;
  const { clock, frontDoor, tools } = services;
  const rosters = await openRosters(collections.rosters);
  const directs = createDirects(collections.directs, settings);
  const posts = createPosts(collections.posts);
  const watch = createWatch(posts, agentKeyOf);
  const ask = createAsking({ ...services, rosters });
  const letta = createLettaServers({
    settings,
    baseUrl: env.LETTA_BASE_URL,
    make: (baseUrl) =>
      createAgents({
        address: { baseUrl, apiKey: env.LETTA_API_KEY },
        store: collections,
        ask,
        clock,
        log,
      }),
    log,
  });
  const shared = {
    ...context,
    ...services,
    rosters,
    directs,
    posts,
    ownThreads: createOwnThreads(collections.startedThreads, client),
    watch,
    letta,
    wakes: collections.wakes,
    budget: createBudget({ days: collections.days, settings, clock }),
    breakers: createBreakers(clock, log, (agent) => {
      void outages.opened(agent);
      return services.notices.alert({
        kind: 'agent-resting',
        text: `The Letta agent ${agent} failed five times in a row and was left alone for half a minute.`,
        remedy: '`!relay status` and `!relay errors` show how it is doing; if it stays so, look at the Letta server.',
      });
    }),
    errors: createErrorLog(collections.errors, clock),
  };

  const standing = createStanding({ ...shared, isShut: (userId) => isShut(userId, shared) });
  context.defer(services.identities.object(PLUGIN, standing.objection));
  context.defer(services.identities.giveProfiles(PLUGIN, createProfiles(shared)));
  context.tool(approveTool);
  context.defer(tools.onSettled(watch.settled));
  const queue = await openQueue({ ...shared, standing });
  const cutting = { ...services, standing, queue };
  const cut = (guildId: string | null) => cutOff(guildId, cutting);
  context.every(CHECK_MS, () => cutOffWhatMayNot(cutting));
  context.defer(() => queue.stop());
  publishMetrics(context.metrics, queue, shared.breakers);
  const outages = createOutageNotices({
    ...shared,
    worldName: letta.worldName,
    pending: () => [null, ...[...rosters.all()].map(([guildId]) => guildId)].flatMap(queue.pending),
  });
  const parts = {
    ...shared,
    outages,
    queue,
    cutOff: cut,
    offer: (event: Parameters<typeof offer>[0]) => offer(event, { ...shared, outages, queue }),
  };
  const button = context.component({
    name: 'consent',
    run: onConsent({ settings, frontDoor, onRefused: () => cut(null) }),
  });
  const consent = { directs, rosters, settings, client, button };
  context.responder({
    name: 'relay',
    description: 'Brings it to a Letta agent that lives here, which answers with tools',
    typesItself: true,
    queues: true,
    respond: (turn) => respond(turn, { ...parts, consent }),
  });
  context.needsSetup((guildId) => needIn(guildId, rosters));
  await startPresence(parts);
  registerCommands(context, parts);
  context.personalData(personalData(parts));
  // What an earlier run has left open is answered as soon as possible, not with the next message.
  context.ready(() => letta.agents().catch((error: unknown) => log.info('no Letta server yet', { error })));
}

/** What keeps agents from answering in a guild. In direct messages, each member says for themselves whether one does. */
function needIn(guildId: string | null, rosters: Pick<Rosters, 'of'>): SetupNeed | undefined {
  if (guildId === null) return undefined;
  const roster = rosters.of(guildId);
  if (roster === undefined || Object.keys(roster.agents).length === 0) {
    const remedy =
      'Use `relay agent <id>` with the id of an agent at the Letta server, then `relay enable` and `relay setup`.';
    return { problem: 'No agent lives in this server.', remedy };
  }
  return roster.enabled
    ? undefined
    : { problem: 'The agents of this server are switched off.', remedy: 'Use `relay enable`.' };
}
