import { z } from 'zod';
import { findGuild, findUser } from '../../actions/find.js';
import { banUser, unbanUser } from '../../actions/moderate.js';
import { discordError } from '../../errors.js';
import { userPayload } from '../../payload/user.js';
import { requireInGuild } from '../../rules/permissions.js';
import type { RestContext } from '../context.js';
import { route } from '../route.js';

const banForm = z.object({ delete_message_seconds: z.number().int().min(0).max(604_800).nullish() });

function guildOf({ world, user, param }: RestContext) {
  return findGuild(world, param('guildId'), user);
}

export const banRoutes = [
  route('GET', '/guilds/:guildId/bans', (context) => {
    const guild = guildOf(context);
    requireInGuild(guild, context.user, context.world.clock.now(), 'BanMembers');
    return [...guild.bans.values()].map(({ user, reason }) => ({ user: userPayload(user), reason }));
  }),
  route('GET', '/guilds/:guildId/bans/:userId', (context) => {
    const guild = guildOf(context);
    requireInGuild(guild, context.user, context.world.clock.now(), 'BanMembers');
    const ban = guild.bans.get(context.param('userId'));
    if (!ban) throw discordError('unknownBan');
    return { user: userPayload(ban.user), reason: ban.reason };
  }),
  route('PUT', '/guilds/:guildId/bans/:userId', (context) => {
    const { world, user, param, reason } = context;
    const { delete_message_seconds } = context.form(banForm);
    banUser(
      world,
      user,
      guildOf(context),
      findUser(world, param('userId')),
      reason ?? null,
      delete_message_seconds ?? 0,
    );
    return undefined;
  }),
  route('DELETE', '/guilds/:guildId/bans/:userId', (context) => {
    unbanUser(context.world, context.user, guildOf(context), context.param('userId'));
    return undefined;
  }),
];
