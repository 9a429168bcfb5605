import {
  Access,
  Clock,
  createKeyedMutex,
  definePlugin,
  HostInfo,
  Identities,
  McpEndpoint,
  OwnerNotices,
  Provenance,
  parseListen,
  ToolHistory,
  Tools,
  t,
  urlOf,
  WebPages,
} from '@cinnabar/sdk';
import { serverCommands, tokenCommands } from './commands.js';
import type { Endpoint } from './endpoint/server.js';
import { createHistory, createRecorder, historyOf } from './history/history.js';
import { createHistoryJournals, removeOldCalls } from './history/journals.js';
import { listings } from './importing/listing.js';
import { createAdministration } from './servers/administration.js';
import { ENVIRONMENT, GLOBAL_SETTINGS } from './settings.js';
import { agentTokens, createAgentTokens, createTokens, tokens, type Verify } from './tokens/tokens.js';

const VERSION = '0.1.0';
const SWEEP_MS = 60_000;
const HISTORY_SWEEP_MS = 60 * 60_000;

export default definePlugin({
  manifest: {
    id: 'mcp',
    version: VERSION,
    description: 'Brings in the tools of MCP servers, offers the own tools over MCP, and keeps every tool call',
    host: '^0.1.0',
    intents: ['Guilds'],
    administrative: true,
  },
  settings: { global: GLOBAL_SETTINGS },
  collections: { agentTokens, listings, tokens },
  env: ENVIRONMENT,
  inject: {
    access: Access,
    clock: Clock,
    host: HostInfo,
    identities: Identities,
    notices: OwnerNotices,
    provenance: Provenance,
    tools: Tools,
    web: WebPages,
  },
  provides: [ToolHistory, McpEndpoint],
  async checks({ settings, env, signal }) {
    const { checkServers } = await import('./servers/connection.js');
    return checkServers((await settings.global.get()).servers, env, signal);
  },
  async setup(context) {
    const { settings, collections, services, env, log, client } = context;
    const { access, clock, tools } = services;
    const values = await settings.global.get();

    const mutex = createKeyedMutex();
    const journals = createHistoryJournals({
      journals: context.journals({ name: 'tools', folder: env.TOOLS_PATH }),
      botId: () => client.user?.id ?? '0',
      clock,
      after: context.after,
    });
    const history = createHistory({ journals, mutex, log });
    context.defer(async () => {
      await mutex.idle();
      await journals.close();
    });
    const sweepHistory = async () => {
      const { historyDays: days, historyMegabytes } = await settings.global.get();
      const bytes = historyMegabytes * 1_000_000;
      for (const id of await removeOldCalls({ journals, mutex, now: clock.now(), days, bytes }))
        history.forgetCached(id);
    };
    context.ready(sweepHistory);
    context.every(HISTORY_SWEEP_MS, sweepHistory);
    context.provide(ToolHistory, history);
    const { provenance } = services;
    context.personalData(historyOf(history, journals, { mutex, log }, { client, provenance }));
    context.defer(tools.onSettled(createRecorder(history, clock, log)));

    const servers = await openServers();
    const grants = createTokens(collections.tokens, clock);
    /** The address of the endpoint's own server takes precedence, since existing callers use it. */
    const url = () => server?.url ?? (services.web.url === undefined ? undefined : `${services.web.url}/mcp`);
    const agents = createAgentTokens({
      store: collections.agentTokens,
      identities: services.identities,
      clock,
      url,
      closeOf: async (id) => (await opened)?.closeOf(id),
    });
    const verify: Verify = async (bearer) => {
      const grant = await grants.verify(bearer);
      if (grant === undefined) return agents.verify(bearer);
      return { id: grant.id, tools: grant.tools, actor: async () => grant.actor };
    };
    let opened: Promise<Endpoint> | undefined;
    context.defer(async () => (await opened)?.close());
    context.every(SWEEP_MS, async () => (await opened)?.sweep());
    context.route({ path: '', handle: async (request, response) => (await openEndpoint()).handle(request, response) });
    const server = await openServer();
    context.provide(McpEndpoint, agents.endpoint);
    context.needsSetup(() =>
      servers !== undefined || url() !== undefined
        ? undefined
        : {
            problem: t('No MCP server is connected, and the own tools are not offered to others.'),
            remedy: t(
              'The owner of the bot sets `set mcp servers …`, or `set mcp listen 8808`, then `plugin reload mcp`.',
            ),
          },
    );
    context.every(SWEEP_MS, agents.sweep);
    context.group({
      name: 'mcp',
      description: 'MCP servers, and the own tools over MCP',
      commands: [
        ...serverCommands({ servers: createAdministration(context.question, servers), url }),
        tokenCommands({
          tokens: grants,
          access,
          tools,
          clock,
          url,
          onRevoked: async (id) => (await opened)?.closeOf(id),
        }),
      ],
    });

    /** The library of the protocol is large, so it is only loaded when the bot has servers or the endpoint is used. */
    async function openServers() {
      if (Object.keys(values.servers).length === 0) return undefined;
      const { createServers } = await import('./servers/servers.js');
      const { listings } = collections;
      const opened = createServers({
        owner: services.host.installation,
        isKeeper: services.host.isFirst,
        settings: values.servers,
        env,
        version: VERSION,
        clock,
        log,
        listings,
        tool: context.tool,
        alert: services.notices.alert,
        schemas: context.worker<typeof import('./importing/schema.js')>(
          new URL('./importing/schema.js', import.meta.url),
        ),
      });
      context.defer(opened.stop);
      context.ready(opened.open);
      return opened;
    }

    /** Opens the endpoint at the first request, or for its own server. */
    function openEndpoint(): Promise<Endpoint> {
      opened ??= import('./endpoint/server.js').then(({ createEndpoint }) =>
        createEndpoint({
          requestsPerMinute: values.callsPerMinute,
          waitMs: values.waitSeconds * 1000,
          mostCharacters: values.resultCharacters,
          version: VERSION,
          verify,
          tools,
          clock,
          log,
        }),
      );
      return opened;
    }

    async function openServer() {
      const address = parseListen(values.listen);
      if (address === undefined || address === 'off') return undefined;
      // In a cluster one process listens; the others only return its address.
      if (!services.host.isFirst) return { url: `${urlOf(address, address.port)}/mcp` };
      const { startServer } = await import('./endpoint/server.js');
      const { hosts, origins } = values;
      const started = await startServer({ address, hosts, origins, endpoint: await openEndpoint(), log });
      context.defer(started.close);
      return started;
    }
  },
});
