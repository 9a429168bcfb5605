import { type LocalApplication, type LocalDiscord, type LocalDiscordOptions, startLocalDiscord } from '@cinnabar/sdk/testing';
import { Client, type ClientOptions, Events, GatewayIntentBits, Partials } from 'discord.js';

const ALL_INTENTS = Object.values(GatewayIntentBits).filter((bit) => typeof bit === 'number');

/** A guild "Night City" with its owner, alice, a bot and #general; and a real discord.js client of the bot. */
export async function nightCity(options: LocalDiscordOptions = {}) {
  const discord = await startLocalDiscord(options);
  const you = discord.createUser({ name: 'you' });
  const alice = discord.createUser({ name: 'alice' });
  const app = discord.createApplication({ name: 'Cinnabar', owner: you });
  const guild = discord.createGuild({ name: 'Night City', owner: you });
  guild.join(alice);
  guild.invite(app);
  const general = guild.createChannel({ name: 'general' });
  const clients: Client[] = [];
  /** Logs a client in and waits until it has its guilds. */
  const login = async (clientOptions: Partial<ClientOptions> = {}, as: LocalApplication = app): Promise<Client<true>> => {
    const client = createClient(discord, clientOptions);
    clients.push(client);
    const ready = new Promise<Client<true>>((resolve) => client.once(Events.ClientReady, resolve));
    await client.login(as.token);
    return ready;
  };
  const close = async () => {
    await Promise.all(clients.map((client) => client.destroy()));
    await discord.close();
  };
  return { discord, you, alice, app, guild, general, login, close, [Symbol.asyncDispose]: close };
}

export type NightCity = Awaited<ReturnType<typeof nightCity>>;

export function createClient(discord: LocalDiscord, options: Partial<ClientOptions> = {}): Client {
  return new Client({
    intents: ALL_INTENTS,
    partials: [Partials.Channel, Partials.Message, Partials.Reaction, Partials.User],
    ...options,
    rest: { api: discord.api, ...options.rest },
  });
}
