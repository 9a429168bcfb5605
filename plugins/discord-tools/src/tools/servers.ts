import { missingSentences, nameText, TIERS, type ToolDefinition, t, z } from '@cinnabar/sdk';
import { ChannelType, type Guild, type GuildBasedChannel } from 'discord.js';
import { guildField, readId } from '../arguments.js';
import { discordTool } from '../discord-tool.js';
import { quoted } from '../message-view.js';
import { channelSource } from '../places.js';
import { channelsWith, may, maySee, seenGuild } from '../rights.js';
import { stopWhenCancelled } from '../sending.js';
import type { Context } from '../settings.js';

/** Time limit of the list: a bot may be in thousands of servers, and makes a request for each one whose cache does not contain the member. */
const MAX_MS = 10_000;
const ANSWERED_MS = 5_000;

const actorSchema = z.object({
  userId: z.string(),
  guildId: z.string().nullable(),
  channelId: z.string(),
  identity: z.string().exactOptional(),
  atMost: z.enum(TIERS).exactOptional(),
});

export function serverTools(context: Context): readonly ToolDefinition[] {
  const { client, clock } = context;
  const listing = context.question({
    name: 'servers',
    input: z.object({ actor: actorSchema, tool: z.string() }),
    answer: z.object({ servers: z.array(z.object({ id: z.string(), name: z.string() })), more: z.boolean() }),
    deadlineMs: MAX_MS + ANSWERED_MS,
    async run(caller, signal) {
      const servers: { id: string; name: string }[] = [];
      const until = clock.now() + MAX_MS;
      for (const guild of client.guilds.cache.values()) {
        if (clock.now() > until) return { servers, more: true };
        stopWhenCancelled(signal);
        if (!(await maySee(context, caller, guild))) continue;
        const seen = await channelsWith(context, caller, guild.channels.cache.values(), ['ViewChannel']);
        if (seen.length > 0) servers.push({ id: guild.id, name: guild.name });
      }
      return { servers, more: false };
    },
  });
  return [
    discordTool({
      name: 'discord_list_servers',
      description: 'List the servers within your reach, with their ids.',
      input: z.object({}),
      risk: 'read',
      examples: ['which servers are you in?', 'list the servers'],
      async run(_, { actor, tool }) {
        const { guildId, identity } = actor;
        // In a server, a member reaches only that server.
        const isAll = guildId === null || identity !== undefined;
        const asked = { actor, tool };
        const { answers, missing } = isAll
          ? await listing.everywhere(asked)
          : { answers: [await listing.of(guildId, asked)], missing: 0 };
        return {
          servers: answers.flatMap(({ servers }) => servers),
          more: answers.some(({ more }) => more),
          missing,
        };
      },
      sources: ({ servers }) => servers.map(({ id }) => ({ guildId: id })),
      present: {
        sentence: () => t("I'll list the servers"),
        action: 'List servers',
        success: (_, { servers, more, missing }) => {
          const lines = servers.map(({ id, name }) => t('{name} (server {id})', { name: nameText(name), id }));
          if (more) lines.push(t('There may be more: there was no time to look at all.'));
          lines.push(...missingSentences({ missing }));
          return lines.length === 0 ? t('There is no server within reach.') : lines.join('\n');
        },
      },
    }),
    discordTool({
      name: 'discord_get_server_info',
      description:
        'Show a server: its name, the channels that you can see with their ids and topics, members, features.',
      input: z.object({ guildId: guildField }),
      risk: 'read',
      examples: ['what channels are there in server {guildId}?', 'tell me about the server {guildId}'],
      runsIn: ({ guildId }) => readId(guildId, 'server'),
      async run({ guildId }, call) {
        const { guild, channels } = await seenGuild(context, call, client.guilds.cache.get(readId(guildId, 'server')));
        const isWhole = await may(context, call, { guildId: guild.id }, []);
        return {
          id: guild.id,
          name: guild.name,
          channels: inOrder(channels).map(viewChannel),
          ...(isWhole ? { whole: viewWhole(guild) } : {}),
        };
      },
      sources: ({ id, channels }) => [{ guildId: id }, ...channels.map((channel) => channelSource(client, channel.id))],
      present: {
        sentence: () => t("I'll look up the server"),
        action: 'Show server',
        success: (_, info) => infoText(info),
      },
    }),
  ];
}

interface ChannelView {
  readonly id: string;
  readonly name: string;
  readonly type: string;
  readonly categoryId: string | null;
  readonly topic?: string;
}

interface ServerInfo {
  readonly id: string;
  readonly name: string;
  /** In the order of Discord's channel list. */
  readonly channels: readonly ChannelView[];
  /** Data about the whole server; missing for an agent that has grants for some of its channels only. */
  readonly whole?: {
    readonly description: string | null;
    readonly ownerId: string;
    readonly members: number;
    readonly roles: number;
    readonly boosts: number;
    readonly createdAt: string;
    readonly features: readonly string[];
  };
}

function viewWhole(guild: Guild): NonNullable<ServerInfo['whole']> {
  return {
    description: guild.description,
    ownerId: guild.ownerId,
    members: guild.memberCount,
    roles: guild.roles.cache.size,
    boosts: guild.premiumSubscriptionCount ?? 0,
    createdAt: guild.createdAt.toISOString(),
    features: guild.features,
  };
}

function viewChannel(channel: GuildBasedChannel): ChannelView {
  const topic = 'topic' in channel ? channel.topic : null;
  return {
    id: channel.id,
    name: channel.name,
    type: ChannelType[channel.type].replace(/^Guild/, '').toLowerCase(),
    categoryId: channel.parentId,
    ...(topic === null ? {} : { topic }),
  };
}

function inOrder(channels: readonly GuildBasedChannel[]): readonly GuildBasedChannel[] {
  const place = (channel: GuildBasedChannel) => ('rawPosition' in channel ? channel.rawPosition : 0);
  return [...channels].sort((one, other) => place(one) - place(other));
}

function infoText({ id, name, channels, whole }: ServerInfo): string {
  const lines = [t('{name} (server {id})', { name: nameText(name), id })];
  if (whole !== undefined) {
    if (whole.description !== null) lines.push(quoted(whole.description));
    lines.push(
      t('{members} members · {roles} roles · {boosts} boosts · owner {ownerId} · since {createdAt}', {
        members: whole.members,
        roles: whole.roles,
        boosts: whole.boosts,
        ownerId: whole.ownerId,
        createdAt: whole.createdAt,
      }),
    );
    if (whole.features.length > 0) lines.push(t('features: {features}', { features: whole.features.join(', ') }));
  }
  lines.push(t('channels:'));
  for (const channel of channels) {
    const within = channel.categoryId === null ? '' : ` · ${t('in {category}', { category: channel.categoryId })}`;
    const topic = channel.topic === undefined ? '' : ` · ${nameText(channel.topic)}`;
    const one = t(
      '{type, select, announcement {announcement} category {category} forum {forum} media {media} stagevoice {stagevoice} text {text} voice {voice} other {{type}}} {name} ({id})',
      { type: channel.type, name: nameText(channel.name), id: channel.id },
    );
    lines.push(`${one}${within}${topic}`);
  }
  return lines.join('\n');
}
