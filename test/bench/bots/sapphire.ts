/** The peer: the Sapphire framework with message commands enabled. */
import { Command, container, SapphireClient } from '@sapphire/framework';
import type { Message } from 'discord.js';
import { equalOptions } from './client-options.js';
import { readArguments, serve } from './protocol.js';

class Noop extends Command {
  override messageRun() {
    return undefined;
  }
}

const { api, token } = readArguments();
class Pong extends Command {
  override async messageRun(message: Message) {
    await message.reply('pong');
  }
}

const client = new SapphireClient({
  ...equalOptions(api),
  defaultPrefix: '!',
  loadMessageCommandListeners: true,
  baseUserDirectory: null,
});
client.once('clientReady', () => serve(() => client.destroy()));
await container.stores.loadPiece({ store: 'commands', name: 'noop', piece: Noop });
await container.stores.loadPiece({ store: 'commands', name: 'pong', piece: Pong });
await client.login(token);
