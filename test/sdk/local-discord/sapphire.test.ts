import { Command, container, LogLevel, SapphireClient } from '@sapphire/framework';
import { expect } from 'chai';
import { Events, GatewayIntentBits } from 'discord.js';
import { nightCity } from './support.js';

describe('local Discord: other frameworks', () => {
  it('carries a @sapphire/framework client with a command', async () => {
    const city = await nightCity();
    class Ping extends Command {
      override async messageRun(message: Parameters<NonNullable<Command['messageRun']>>[0]) {
        await message.reply('pong from Sapphire');
      }
    }
    const client = new SapphireClient({
      intents: [GatewayIntentBits.Guilds, GatewayIntentBits.GuildMessages, GatewayIntentBits.MessageContent],
      defaultPrefix: '!',
      loadMessageCommandListeners: true,
      baseUserDirectory: null,
      logger: { level: LogLevel.None },
      rest: { api: city.discord.api },
    });
    await client.stores.loadPiece({ name: 'ping', piece: Ping, store: 'commands' });
    const ready = new Promise((resolve) => client.once(Events.ClientReady, resolve));
    await client.login(city.app.token);
    await ready;
    city.alice.say(city.general, '!ping');
    const answer = await city.discord.expectMessage({ channel: city.general });
    expect(answer.content).to.equal('pong from Sapphire');
    expect(container.client).to.equal(client);
    await client.destroy();
    await city.close();
  });
});
