/** The peer: discord.js alone, with the least code for the same behaviour. */
import { Client, type Message } from 'discord.js';
import { equalOptions } from './client-options.js';
import { readArguments, serve } from './protocol.js';

const { api, token } = readArguments();
const client = new Client(equalOptions(api));
const commands = new Map<string, (message: Message, args: readonly string[]) => unknown>([
  ['noop', () => undefined],
  ['pong', (message) => message.reply('pong')],
]);

client.on('messageCreate', (message) => {
  if (message.author.bot || !message.content.startsWith('!')) return;
  const [name = '', ...args] = message.content.slice(1).split(/ +/);
  commands.get(name)?.(message, args);
});
client.once('clientReady', () => serve(() => client.destroy()));
await client.login(token);
