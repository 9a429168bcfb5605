import { z } from 'zod';
import { createChannel } from '../../actions/channels.js';
import { findGuild } from '../../actions/find.js';
import { broadcast } from '../../gateway/dispatch.js';
import { channelPayload } from '../../payload/channel.js';
import { emojiPayload } from '../../payload/emoji.js';
import { guildPayload } from '../../payload/guild.js';
import { requireInGuild } from '../../rules/permissions.js';
import type { RestContext } from '../context.js';
import { channelForm } from '../forms/channel.js';
import { Created, route } from '../route.js';
import { threadList } from './threads.js';

const editForm = z.object({ name: z.string().min(2).max(100).optional(), description: z.string().max(300).nullish() });
const positionsForm = z.array(
  z.object({ id: z.string(), position: z.number().int().nullish(), parent_id: z.string().nullish() }),
);

function guildOf({ world, user, param }: RestContext) {
  return findGuild(world, param('guildId'), user);
}

export const guildRoutes = [
  route('GET', '/guilds/:guildId', (context) => {
    const guild = guildOf(context);
    const counts = context.query.get('with_counts') === 'true';
    return {
      ...guildPayload(guild),
      ...(counts
        ? { approximate_member_count: guild.members.size, approximate_presence_count: guild.members.size }
        : {}),
    };
  }),
  route('PATCH', '/guilds/:guildId', (context) => {
    const guild = guildOf(context);
    requireInGuild(guild, context.user, context.world.clock.now(), 'ManageGuild');
    const { name, description } = context.form(editForm);
    if (name !== undefined) guild.name = name;
    if (description !== undefined) guild.description = description;
    broadcast(context.world, 'GUILD_UPDATE', { guild }, guildPayload(guild));
    return guildPayload(guild);
  }),
  route('GET', '/guilds/:guildId/channels', (context) =>
    [...guildOf(context).channels.values()].map((channel) => channelPayload(channel, context.user.id)),
  ),
  route('POST', '/guilds/:guildId/channels', (context) => {
    const { world, user } = context;
    const guild = guildOf(context);
    const form = context.form(channelForm);
    requireInGuild(guild, user, world.clock.now(), 'ManageChannels');
    const channel = createChannel(world, guild, {
      name: form.name,
      type: form.type ?? undefined,
      topic: form.topic,
      nsfw: form.nsfw ?? undefined,
      position: form.position ?? undefined,
      slowmodeSeconds: form.rate_limit_per_user ?? undefined,
      userLimit: form.user_limit ?? undefined,
      parent: form.parent_id ? guild.channels.get(form.parent_id) : undefined,
      overwrites: form.permission_overwrites?.map(({ id, type, allow, deny }) => ({
        id,
        kind: type === 0 ? ('role' as const) : ('member' as const),
        allow: allow ?? 0n,
        deny: deny ?? 0n,
      })),
      availableTags: form.available_tags?.map((tag) => ({
        name: tag.name,
        moderated: tag.moderated ?? false,
        emojiName: tag.emoji_name ?? null,
      })),
    });
    return new Created(channelPayload(channel, user.id));
  }),
  route('PATCH', '/guilds/:guildId/channels', (context) => {
    const guild = guildOf(context);
    requireInGuild(guild, context.user, context.world.clock.now(), 'ManageChannels');
    for (const { id, position } of context.form(positionsForm)) {
      const channel = guild.channels.get(id);
      if (channel && typeof position === 'number') channel.position = position;
    }
    return undefined;
  }),
  route('GET', '/guilds/:guildId/threads/active', (context) =>
    threadList(
      context,
      [...guildOf(context).threads.values()].filter((thread) => !thread.thread?.archived),
    ),
  ),
  route('GET', '/guilds/:guildId/emojis', (context) => [...guildOf(context).emojis.values()].map(emojiPayload)),
  route('GET', '/guilds/:guildId/invites', (context) => {
    requireInGuild(guildOf(context), context.user, context.world.clock.now(), 'ManageGuild');
    return [];
  }),
];
