/** The peer: the Sapphire framework with its message commands switched on. */
import { Command, container, SapphireClient } from '@sapphire/framework';
import { equalOptions } from './client-options.js';
import { readArguments, serve } from './protocol.js';

class Noop extends Command {
  override messageRun() {
    return undefined;
  }
}

const loadedAt = performance.now();
const { api, token } = readArguments();
const client = new SapphireClient({
  ...equalOptions(api),
  defaultPrefix: '!',
  loadMessageCommandListeners: true,
  baseUserDirectory: null,
});
client.once('clientReady', () => serve(() => client.destroy(), loadedAt));
await container.stores.loadPiece({ store: 'commands', name: 'noop', piece: Noop });
await client.login(token);
