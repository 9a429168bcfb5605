import {
  type LocalApplication,
  type LocalDiscord,
  type LocalDiscordOptions,
  startLocalDiscord,
} from '@cinnabar/local-discord';
import { expect } from 'chai';
import {
  type ChatInputCommandInteraction,
  Client,
  type ClientEvents,
  type ClientOptions,
  DiscordAPIError,
  Events,
  GatewayIntentBits,
  type Interaction,
  Partials,
} from 'discord.js';

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
  const login = async (
    clientOptions: Partial<ClientOptions> = {},
    as: LocalApplication = app,
  ): Promise<Client<true>> => {
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
  return { discord, you, alice, app, guild, general, clients, login, close };
}

export type NightCity = Awaited<ReturnType<typeof nightCity>>;

export function createClient(discord: LocalDiscord, options: Partial<ClientOptions> = {}): Client {
  return new Client({
    intents: ALL_INTENTS,
    partials: [Partials.Channel, Partials.Message, Partials.Reaction, Partials.User],
    ...options,
    rest: { api: discord.api, cdn: discord.cdn, globalRequestsPerSecond: 10_000, ...options.rest },
    ws: { buildIdentifyThrottler: async () => ({ waitForIdentify: async () => undefined }), ...options.ws },
  });
}

/** The channel in the client's cache. @throws when there is none, or it cannot contain messages */
export function textChannel(client: Client<true>, id: string) {
  const channel = client.channels.cache.get(id);
  if (!channel?.isTextBased() || !channel.isSendable() || channel.isDMBased())
    throw new Error(`The client has no guild channel ${id}.`);
  return channel;
}

/** The arguments of the next event of that name. */
export function next<E extends keyof ClientEvents>(client: Client, event: E): Promise<ClientEvents[E]> {
  return new Promise((resolve) => client.once(event, (...args) => resolve(args)));
}

/** Expects Discord to refuse the request with that JSON error code. @returns the error */
export async function refusal(request: Promise<unknown>, code: number): Promise<DiscordAPIError> {
  const error: unknown = await request.then(
    () => new Error('It was not refused.'),
    (reason: unknown) => reason,
  );
  if (!(error instanceof DiscordAPIError)) throw error;
  expect(error.code, error.message).to.equal(code);
  return error;
}

/** The JSON error code that a user's action throws. */
export function codeOf(action: () => unknown): unknown {
  try {
    action();
  } catch (error) {
    return typeof error === 'object' && error !== null && 'code' in error ? error.code : error;
  }
  return 'no error';
}

/** A clock that the test moves. */
export function handClock(start = Date.UTC(2077, 0, 1)) {
  let time = start;
  return {
    now: () => time,
    advance: (ms: number) => {
      time += ms;
    },
  };
}

/** Handles the bot's interactions; resolves with the error when the handler fails. */
export function onInteraction(
  client: Client,
  handle: (interaction: Interaction) => Promise<unknown>,
): Promise<unknown> {
  return new Promise((resolve) => {
    client.on(Events.InteractionCreate, (interaction) => void handle(interaction).catch(resolve));
  });
}

/** The same for slash commands only. */
export function onCommand(
  client: Client,
  handle: (interaction: ChatInputCommandInteraction) => Promise<unknown>,
): Promise<unknown> {
  return onInteraction(client, async (interaction) => interaction.isChatInputCommand() && handle(interaction));
}
