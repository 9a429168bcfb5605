/** The peer: the Sapphire framework with its message commands switched on. */
import { Command, container, SapphireClient } from '@sapphire/framework';
import { GatewayIntentBits } from 'discord.js';
import { readArguments, serve } from './protocol.js';

class Noop extends Command {
  override messageRun() {
    return undefined;
  }
}

const { api, token } = readArguments();
const client = new SapphireClient({
  intents: [
    GatewayIntentBits.Guilds,
    GatewayIntentBits.GuildMessages,
    GatewayIntentBits.MessageContent,
    GatewayIntentBits.GuildMessageReactions,
    GatewayIntentBits.DirectMessages,
  ],
  defaultPrefix: '!',
  loadMessageCommandListeners: true,
  baseUserDirectory: null,
  rest: { api },
});
client.once('clientReady', () => serve(() => client.destroy()));
await container.stores.loadPiece({ store: 'commands', name: 'noop', piece: Noop });
await client.login(token);
