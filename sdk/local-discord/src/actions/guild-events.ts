import { GatewayIntentBits } from 'discord-api-types/v10';
import { audience, broadcast } from '../gateway/dispatch.js';
import type { GatewaySession } from '../gateway/session.js';
import { emojiPayload } from '../payload/emoji.js';
import { guildCreatePayload } from '../payload/guild.js';
import type { LocalApplication } from '../state/application.js';
import type { LocalGuild } from '../state/guild.js';
import type { World } from '../state/world.js';

/** Sends GUILD_CREATE to the bot's sessions. */
export function announceGuild(world: World, guild: LocalGuild, application: LocalApplication): void {
  for (const session of audience(world, 'GUILD_CREATE', { application, guild })) sendGuild(session, guild);
}

/** GUILD_CREATE: without GuildPresences the only member in it is the bot itself. */
export function sendGuild(session: GatewaySession, guild: LocalGuild): void {
  const self = guild.members.get(session.application.id);
  if (!self) return;
  const all = (session.intents & GatewayIntentBits.GuildPresences) !== 0;
  const members = all ? [...guild.members.values()] : [self];
  session.dispatch('GUILD_CREATE', JSON.stringify(guildCreatePayload(guild, self, members)));
}

export function announceEmojis(world: World, guild: LocalGuild): void {
  const emojis = [...guild.emojis.values()].map(emojiPayload);
  broadcast(world, 'GUILD_EMOJIS_UPDATE', { guild }, { guild_id: guild.id, emojis });
}

/** GUILD_DELETE to a bot that is no member any more; without `unavailable`, which would mean an outage. */
export function announceLoss(world: World, guild: LocalGuild, application: LocalApplication): void {
  const json = JSON.stringify({ id: guild.id });
  for (const session of audience(world, 'GUILD_DELETE', { application, guild })) session.dispatch('GUILD_DELETE', json);
}
