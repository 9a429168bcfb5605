import { createAskFirst, formatDuration, plainText, requireGuildId, subcommand, t, UserError, z } from '@cinnabar/sdk';
import { type Client, version as discordVersion, OAuth2Scopes, PermissionsBitField } from 'discord.js';
import { type AllServers, missingNote } from './all-servers.js';
import { messageCommands } from './bot-messages.js';
import { processCommands } from './bot-process.js';
import type { AdminContext } from './context.js';
import { code } from './format.js';
import { presenceCommands, profileCommands } from './presence.js';

const OWNER = { tier: 'botOwner' } as const;
const MOST_SERVERS = 100;

/** `!bot …`: the bot itself. */
export function registerBotCommands(context: AdminContext, servers: AllServers): void {
  const { group, component, client, log, services } = context;
  const { audit, clock, host, plugins } = services;
  const askFirst = createAskFirst({ component, ...services, name: 'bot-leave', access: OWNER });
  const ownUptime = () =>
    t('Up for {duration}, since {time}.', {
      duration: formatDuration(Math.floor((clock.now() - host.startedAt) / 1_000) * 1_000),
      time: `<t:${Math.floor(host.startedAt / 1_000)}:f>`,
    });
  const uptime = async () => {
    const status = await services.cluster.status().catch((error: unknown) => {
      log.info('the processes of the cluster are not known', { error });
      return undefined;
    });
    const starts = (status?.processes ?? []).map(({ startedAt }) => Math.floor(startedAt / 1_000));
    if (starts.length === 0) return ownUptime();
    return t(
      '{count, plural, one {One process serves me} other {# processes serve me together}}. The first was started {first}, the last {last}.',
      { count: starts.length, first: `<t:${Math.min(...starts)}:R>`, last: `<t:${Math.max(...starts)}:R>` },
    );
  };

  group({
    name: 'bot',
    description: 'See and control the bot itself',
    commands: [
      subcommand({
        name: 'info',
        description: 'Show the version, the plugins and how long the bot has been up',
        async run(ctx) {
          const running = plugins
            .list()
            .filter(({ id, state }) => state === 'running' && plugins.enabledIn(ctx.actor.guildId, id));
          return ctx.reply(
            [
              t('**{name}** runs on Cinnabar {version}, discord.js {discord} and Node {node}.', {
                name: plainText(client.user?.displayName ?? t('The bot')),
                version: host.version,
                discord: discordVersion,
                node: process.versions.node,
              }),
              t('{count} plugins are on here; `{help}` lists what they do.', {
                count: running.length,
                help: `${ctx.prefix}help`,
              }),
              await uptime(),
            ].join('\n'),
          );
        },
      }),
      subcommand({
        name: 'uptime',
        description: 'Show how long the bot has been up',
        run: async (ctx) => ctx.reply(await uptime()),
      }),
      subcommand({
        name: 'ping',
        description: 'Measure how long Discord takes to answer',
        cooldown: { uses: 3, perMs: 30_000 },
        async run(ctx) {
          const askedAt = clock.now();
          const message = await ctx.reply(t('Pong.'));
          const heartbeat = client.ws.ping < 0 ? t('not measured yet') : `${Math.round(client.ws.ping)} ms`;
          await message.edit(
            t('Pong. A message takes {ms} ms, the gateway’s heartbeat: {heartbeat}.', {
              ms: clock.now() - askedAt,
              heartbeat,
            }),
          );
        },
      }),
      subcommand({
        name: 'invite',
        description: 'Get the link that adds the bot to a server',
        help: 'With the permissions that the loaded plugins declare, and no others.',
        async run(ctx) {
          const app = client.application ?? undefined;
          const isOwner = (await services.access.tierOf(ctx.actor)) === 'botOwner';
          if (app?.botPublic === false && !isOwner)
            throw new UserError(t('Only the bot’s owner can add it to servers.'));
          await ctx.reply({ content: `<${inviteOf(client, services.plugins.list())}>`, ephemeral: true });
        },
      }),
      subcommand({
        name: 'servers',
        reads: true,
        description: 'List the servers that the bot is in',
        access: OWNER,
        async run(ctx) {
          const { count, servers: shown, missing } = await servers.largest(MOST_SERVERS);
          const lines = shown.map(({ id, name, members }) =>
            t('• {name} {id}: {count} members', { name: plainText(name), id: code(id), count: members }),
          );
          const left = count - shown.length;
          const more = left > 0 ? [t('… and {count} more', { count: left })] : [];
          await ctx.reply({
            content: [t('**Servers** ({count})', { count }), ...lines, ...more, ...missingNote({ missing })].join('\n'),
            ephemeral: true,
          });
        },
      }),
      subcommand({
        name: 'leave',
        description: 'Leave a server',
        help: 'The plugins keep their data about the server, in case the bot is invited again.',
        access: OWNER,
        options: { server: z.string().optional().describe('Id of the server; by default this one') },
        examples: ['bot leave', 'bot leave 1456074443980800002'],
        async run(ctx, { server }) {
          const { id, name, members } = await servers.find(server ?? requireGuildId(ctx.actor));
          return askFirst(ctx, {
            content: t('Leave **{name}** ({count} members)?', {
              name: plainText(name),
              count: members,
            }),
            yes: t('Leave it'),
            async run() {
              if (!(await servers.leave(id))) throw new UserError(t('I am not there any more.'));
              audit.record({ actor: ctx.actor, act: `bot leave ${id} (agreed)`, outcome: 'done' });
              return t('Left **{name}**.', { name: plainText(name) });
            },
          });
        },
      }),
      ...profileCommands(context),
      ...presenceCommands(context),
      ...messageCommands(context),
      ...processCommands(context),
    ],
  });
}

/** The link that adds the bot with exactly the permissions that plugins declare. */
function inviteOf(client: Client, loaded: ReturnType<AdminContext['services']['plugins']['list']>): string {
  const declared = loaded.flatMap(({ manifest }) => manifest.permissions ?? []);
  return client.generateInvite({
    scopes: [OAuth2Scopes.Bot, OAuth2Scopes.ApplicationsCommands],
    permissions: new PermissionsBitField([...new Set(declared)]),
  });
}
