import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { startLocalDiscord } from '@cinnabar/local-discord';
import { expect } from 'chai';
import { useFolder } from '../core/plugins/support/folder.js';
import { useCommandLine } from './support/command-line.js';

/** A plugin with commands that cause uncaught errors. */
const clumsy = (name: string, expression: string) => `import { connect } from 'node:net';
import { definePlugin } from '@cinnabar/sdk';
const fail = () => {
  throw new Error('it failed');
};
const ways = {
  callback: () => setTimeout(fail, 1),
  promise: () => void Promise.resolve().then(fail),
  socket: () => void connect(1, '127.0.0.1'),
};
export default definePlugin({
  manifest: { id: '${name}', version: '1.0.0', description: 'Clumsy', intents: ['GuildMessages', 'MessageContent'] },
  setup({ on }) {
    on('messageCreate', (message) => {
      if (message.content === '${name}') ${expression};
      if (message.content === 'who listens?') return message.reply('${name} listens');
    });
  },
});
`;

describe('an error that nothing catches', function () {
  this.timeout(60_000);
  const folder = useFolder();
  const { start } = useCommandLine();

  it('is logged with plugin and source line, costs the plugin its listeners for a minute, and leaves the bot running', async () => {
    const plugins = ['careful', 'callback', 'promise', 'socket'];
    for (const name of plugins) {
      await folder.write({
        [`plugins/${name}/package.json`]: { name: `cinnabar-${name}`, version: '1.0.0', type: 'module' },
        [`plugins/${name}/index.ts`]: clumsy(name, name === 'careful' ? '{}' : `ways.${name}()`),
      });
    }
    await using discord = await startLocalDiscord();
    const you = discord.createUser({ name: 'you' });
    const bot = discord.createApplication({ name: 'Cinnabar', owner: you });
    const guild = discord.createGuild({ name: 'Night City', owner: you });
    guild.invite(bot);
    const general = guild.createChannel({ name: 'general' });
    const { child, ended, prints } = start({
      CINNABAR_DATA: folder.at('data'),
      CINNABAR_PLUGINS: folder.at('plugins'),
      DISCORD_API: discord.api,
      DISCORD_TOKEN: bot.token,
    });
    await prints(/ready/);
    // A system error contains no line of the plugin. From the first one on, at the latest, Node tracks the creators of resources.
    you.say(general, 'socket');
    await prints(/uncaught exception/, 'err');
    for (const name of ['callback', 'promise', 'socket']) {
      you.say(general, name);
      await prints(new RegExp(`${name}: uncaught`), 'err');
    }
    you.say(general, 'who listens?');
    await discord.expectMessage({ author: bot, content: 'careful listens' });
    await discord.settled();
    expect(general.messages.filter(({ author }) => author.id === bot.id).length).to.equal(1);
    child.kill('SIGTERM');
    expect((await ended).code).to.equal(0);

    const logs = folder.at('data', 'logs');
    const [file = ''] = (await readdir(logs)).filter((name) => name.startsWith('errors-'));
    const entries: { message: string; plugin: string }[] = (await readFile(join(logs, file), 'utf8'))
      .split('\n')
      .filter(Boolean)
      .map((line) => JSON.parse(line));
    const at = (name: string) => ` at ${folder.at('plugins', name, 'index.ts')}:4:9`;
    expect(entries.slice(1).map(({ plugin, message }) => [plugin, message])).to.deep.equal([
      ['callback', `callback: uncaught exception${at('callback')}; its listeners pause for a minute`],
      ['promise', `promise: uncaught rejection${at('promise')}; its listeners pause for a minute`],
      ['socket', 'socket: uncaught exception; its listeners pause for a minute'],
    ]);
  });
});
