import type { LocalDiscord } from '@cinnabar/local-discord';

/** Creates a server with its owner and a bot. @returns also the environment for a process of the bot */
export function createWorld(discord: LocalDiscord) {
  const you = discord.createUser({ name: 'you' });
  const bot = discord.createApplication({ name: 'Cinnabar', owner: you });
  const guild = discord.createGuild({ name: 'Night City', owner: you });
  guild.invite(bot);
  const general = guild.createChannel({ name: 'general' });
  return { you, bot, general, env: { DISCORD_TOKEN: bot.token, DISCORD_API: discord.api } };
}
