import { createAskFirst, formatDuration, plainText, subcommand, UserError, z } from '@cinnabar/sdk';
import { type Client, version as discordVersion, OAuth2Scopes, PermissionsBitField } from 'discord.js';
import { messageCommands } from './bot-messages.js';
import { processCommands } from './bot-process.js';
import { profileCommands } from './bot-profile.js';
import type { AdminContext } from './context.js';
import { code, guildOf } from './format.js';
import { presenceCommands } from './presence.js';

const OWNER = { tier: 'botOwner' } as const;
const MOST_SERVERS = 100;

/** `!bot …`: the bot itself. */
export function registerBotCommands(context: AdminContext): void {
  const { group, component, client, services } = context;
  const { audit, clock, host, plugins } = services;
  const askFirst = createAskFirst({ component, ...services, name: 'bot-leave', access: OWNER });
  const uptime = () =>
    `Up for ${formatDuration(Math.floor((clock.now() - host.startedAt) / 1_000) * 1_000)}, since <t:${Math.floor(host.startedAt / 1_000)}:f>.`;

  group({
    name: 'bot',
    description: 'See and control the bot itself',
    commands: [
      subcommand({
        name: 'info',
        description: 'Show the version, the plugins and how long the bot has been up',
        run(ctx) {
          const running = plugins
            .list()
            .filter(({ id, state }) => state === 'running' && plugins.enabledIn(ctx.actor.guildId, id));
          return ctx.reply(
            [
              `**${plainText(client.user?.displayName ?? 'The bot')}** runs on Cinnabar ${host.version}, discord.js ${discordVersion} and Node ${process.versions.node}.`,
              `${running.length} plugins are on here; \`${ctx.prefix}help\` lists what they do.`,
              uptime(),
            ].join('\n'),
          );
        },
      }),
      subcommand({
        name: 'uptime',
        description: 'Show how long the bot has been up',
        run: (ctx) => ctx.reply(uptime()),
      }),
      subcommand({
        name: 'ping',
        description: 'Measure how long Discord takes to answer',
        cooldown: { uses: 3, perMs: 30_000 },
        async run(ctx) {
          const askedAt = clock.now();
          const message = await ctx.reply('Pong.');
          const heartbeat = client.ws.ping < 0 ? 'not measured yet' : `${Math.round(client.ws.ping)} ms`;
          await message.edit(
            `Pong. A message takes ${clock.now() - askedAt} ms, the gateway’s heartbeat: ${heartbeat}.`,
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
          if (app?.botPublic === false && !isOwner) throw new UserError('Only the bot’s owner can add it to servers.');
          await ctx.reply({ content: `<${inviteOf(client, services.plugins.list())}>`, ephemeral: true });
        },
      }),
      subcommand({
        name: 'servers',
        description: 'List the servers that the bot is in',
        access: OWNER,
        run(ctx) {
          const guilds = [...client.guilds.cache.values()].sort((a, b) => b.memberCount - a.memberCount);
          const lines = guilds
            .slice(0, MOST_SERVERS)
            .map(({ id, name, memberCount }) => `• ${plainText(name)} ${code(id)}: ${memberCount} members`);
          const more = guilds.length > MOST_SERVERS ? [`… and ${guilds.length - MOST_SERVERS} more`] : [];
          return ctx.reply({
            content: [`**Servers** (${guilds.length})`, ...lines, ...more].join('\n'),
            ephemeral: true,
          });
        },
      }),
      subcommand({
        name: 'leave',
        description: 'Leave a server',
        help: 'What the plugins keep for the server stays, for the day the bot is invited again.',
        access: OWNER,
        options: { server: z.string().optional().describe('Id of the server; by default this one') },
        examples: ['bot leave', 'bot leave 1456074443980800002'],
        run(ctx, { server }) {
          const guild = client.guilds.cache.get(server ?? guildOf(ctx.actor));
          if (guild === undefined)
            throw new UserError(`The bot is in no server with the id ${code(server)}. \`bot servers\` lists them.`);
          return askFirst(ctx, {
            content: `Leave **${plainText(guild.name)}** (${guild.memberCount} members)?`,
            yes: 'Leave it',
            async run() {
              await guild.leave();
              audit.record({ actor: ctx.actor, act: `bot leave ${guild.id} (agreed)`, outcome: 'done' });
              return `Left **${plainText(guild.name)}**.`;
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
