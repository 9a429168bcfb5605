import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createTestHost } from '@cinnabar/core/testing';
import { definePlugin } from '@cinnabar/sdk';
import { expect } from 'chai';

const COMMANDS = /^\/applications\/.*commands$/;

const dice = (...names: readonly string[]) =>
  definePlugin({
    manifest: { id: 'dice', version: '1.0.0', description: 'Dice' },
    setup({ command }) {
      for (const name of names) command({ name, description: 'A command', run: () => undefined });
    },
  });

describe('slash commands at a start', () => {
  it('are requested and sent only where they changed, also after changes while the bot was offline', async () => {
    await using first = await createTestHost({ plugins: ['admin', dice('roll')] });
    const { discord, application, guild, you, dataDir } = first;
    const names = (of = guild) => [...(application.guildCommands.get(of.id)?.values() ?? [])].map(({ name }) => name);
    const start = async (...commands: readonly string[]) => {
      discord.requests.reset();
      return createTestHost({ plugins: ['admin', dice(...commands)], world: first, dataDir });
    };
    const asked = () =>
      discord.requests.all
        .filter(({ route }) => COMMANDS.test(route))
        .map(({ method, path }) => `${method} ${path.split('/guilds/')[1] ?? ''}`);

    first.you.say(first.general, '!plugin disable dice');
    await first.settled();
    expect(names()).to.not.include('roll');
    await first.stop();

    const same = await start('roll');
    expect(asked()).to.deep.equal([]);
    you.say(first.general, '!plugin enable dice');
    await same.settled();
    expect(names()).to.include('roll');
    await same.stop();

    const changed = await start('roll', 'flip');
    expect(asked().sort()).to.deep.equal(['GET ', `GET ${guild.id}/commands`, 'PUT ', `PUT ${guild.id}/commands`]);
    expect(names()).to.include.members(['roll', 'flip']);
    await changed.stop();

    // Simulates another program with the same token that deletes the commands.
    application.guildCommands.get(guild.id)?.clear();
    const soon = await start('roll', 'flip');
    expect(asked()).to.deep.equal([]);
    await soon.stop();
    first.clock.advance(25 * 60 * 60_000);
    const aDayLater = await start('roll', 'flip');
    expect(names()).to.include.members(['roll', 'flip']);
    await aDayLater.stop();
  });

  it('are sent where only a translation has changed', async () => {
    const plugin = mkdtempSync(join(tmpdir(), 'cinnabar-plugin-'));
    const translate = (german: string) =>
      writeFileSync(join(plugin, 'locales', 'de.json'), JSON.stringify({ Rolls: german }));
    mkdirSync(join(plugin, 'locales'));
    writeFileSync(
      join(plugin, 'index.ts'),
      `import { definePlugin } from '@cinnabar/sdk';
      export default definePlugin({
        manifest: { id: 'dice', version: '1.0.0', description: 'Dice' },
        setup: ({ command }) => void command({ name: 'roll', description: 'Rolls', run: () => undefined }),
      });`,
    );
    try {
      translate('Wirft');
      await using first = await createTestHost({ plugins: [plugin] });
      const { discord, application, guild, dataDir } = first;
      const sent = () =>
        discord.requests.all.filter(({ method, route }) => method === 'PUT' && COMMANDS.test(route)).length;
      const german = () =>
        [...(application.guildCommands.get(guild.id)?.values() ?? [])].map((one) => one.description_localizations?.de);
      expect(german()).to.deep.equal(['Wirft']);
      await first.stop();
      for (const [text, requests] of [
        ['Wirft', 0],
        ['Würfelt', 2],
        ['Würfelt', 0],
      ] as const) {
        translate(text);
        discord.requests.reset();
        const next = await createTestHost({ plugins: [plugin], world: first, dataDir });
        expect([german(), sent()]).to.deep.equal([[text], requests]);
        await next.stop();
      }
    } finally {
      rmSync(plugin, { recursive: true, force: true });
    }
  });

  it('are sent to a new local Discord, although the data record them as sent', async () => {
    const first = await createTestHost({ plugins: ['admin', dice('roll')] });
    const { dataDir } = first;
    await using folder = { path: dataDir, [Symbol.asyncDispose]: () => first[Symbol.asyncDispose]() };
    await first.stop();
    await using second = await createTestHost({ plugins: ['admin', dice('roll')], dataDir: folder.path });
    expect(second.guild.id).to.equal(first.guild.id);
    const { application, guild } = second;
    expect([...(application.guildCommands.get(guild.id)?.values() ?? [])].map(({ name }) => name)).to.include('roll');
    expect([...application.globalCommands.values()].map(({ name }) => name)).to.include('roll');
  });
});
