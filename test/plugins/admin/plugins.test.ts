import type { TestHost } from '@cinnabar/core/testing';
import { createTestHost } from '@cinnabar/core/testing';
import type { LocalUser } from '@cinnabar/local-discord';
import { expect } from 'chai';
import { createGreeter, type Greeter } from './greeter.js';
import { answering } from './harness.js';

describe('admin: !plugin', () => {
  let greeter: Greeter;
  let host: TestHost;
  let say: (user: LocalUser, text: string) => Promise<string>;

  beforeEach(async () => {
    greeter = await createGreeter();
    host = await createTestHost({ plugins: ['admin', 'ai', greeter.folder] });
    say = answering(host);
  });
  afterEach(async () => {
    await host[Symbol.asyncDispose]();
    await greeter[Symbol.asyncDispose]();
  });

  it('lists every plugin with its version, its state here and what it is for', async () => {
    await say(host.you, '!plugin disable greeter');
    const list = await say(host.you, '!plugin list');
    expect(list).to.match(/^\*\*Plugins\*\* \(\d+\)\n/);
    expect(list).to.match(/^• `admin` 1\.0\.0, running, on here: .+$/m);
    expect(list).to.match(/^• `greeter` 1\.0\.0, running, off here: Greets$/m);
    expect(list).to.match(/^• `chat` \S+, stopped: .+$/m);
  });

  it('tells everything about one, but where it lies only to the owner of the bot', async () => {
    const info = await say(host.you, '!plugin info ai');
    expect(info).to.match(/^\*\*ai\*\* \d+\.\d+\.\d+: /);
    expect(info).to.match(/^State: running, on here$/m);
    expect(info).to.match(/^Source: bundled, `.+plugins.ai`$/m);
    expect(info).to.match(/^Intents: Guilds, GuildMessages, DirectMessages, MessageContent$/m);
    expect(info).to.match(/^Injects: .*`cinnabar\.responders`/m);
    expect(info).to.match(/^Settings: .*`maxWaiting`/m);
    expect(info).to.match(/^Registered: .*`listener messageCreate`/m);
    host.guild.giveRole(host.bob, host.guild.createRole({ name: 'Boss', permissions: ['Administrator'] }));
    expect(await say(host.bob, '!plugin info ai')).to.match(/^Source: bundled$/m);
    expect(await say(host.you, '!plugin info nothing')).to.equal('There is no plugin called "nothing".');
  });

  it('says with a plugin that is switched on what is still missing for it to do anything', async () => {
    await using fresh = await createTestHost({
      plugins: ['admin', 'logging', 'welcome'],
      permissions: ['ViewChannel', 'SendMessages', 'AttachFiles'],
    });
    const ask = answering(fresh);
    expect(await ask(fresh.you, '!plugin enable logging')).to.equal(
      [
        '`logging` is on in this server now.',
        '⚠️ No channel for the log is chosen. Choose one: `set logging channel #log`.',
        '⚠️ Part of it does not work: the owner of the bot has to allow me intents in the Developer Portal and in my configuration (`intents`): `GuildMembers`.',
        '⚠️ I lack permissions for it here: View Audit Log.',
      ].join('\n'),
    );
    await ask(fresh.you, '!welcome channel #general');
    expect(await ask(fresh.you, '!plugin enable welcome')).to.not.include('chosen');
    expect(await ask(fresh.you, '!plugin enable nothing')).to.equal('There is no plugin called "nothing".');
  });

  it('unloads and loads for the owner of the bot', async () => {
    expect(await say(host.you, '!plugin unload greeter')).to.equal('Unloaded `greeter`.');
    expect(await say(host.alice, '!hello')).to.equal('');
    expect(await say(host.you, '!plugin load greeter')).to.equal('Loaded `greeter` 1.0.0.');
    expect(await say(host.alice, '!hello')).to.equal('hello from 1.0.0');
  });

  it('says what a reload changed', async () => {
    expect(await say(host.you, '!plugin reload greeter')).to.equal(
      'Reloaded `greeter` 1.0.0: nothing visible changed.',
    );
    await greeter.write('1.1.0', 'hi');
    const report = await say(host.you, '!plugin reload greeter');
    expect(report).to.match(/^Reloaded `greeter` 1\.0\.0 → 1\.1\.0:\n/);
    expect(report).to.include('• command hi added').and.to.include('• command hello removed');
    expect(await say(host.alice, '!hi')).to.equal('hi from 1.1.0');
  });

  it('says why a reload failed, and that the old version goes on', async () => {
    await greeter.break();
    const report = await say(host.you, '!plugin reload greeter');
    expect(report)
      .to.match(/index\.ts/)
      .and.to.match(/still running 1\.0\.0/i);
    expect(await say(host.alice, '!hello')).to.equal('hello from 1.0.0');
  });

  it('lists one that failed with its error', async () => {
    await say(host.you, '!plugin unload greeter');
    await greeter.break();
    expect(await say(host.you, '!plugin load greeter')).to.match(/does not build: .*index\.ts:\d+:\d+: /);
    expect(await say(host.you, '!plugin list')).to.match(/^• `greeter` \S+, failed.*\n?.*index\.ts:\d+/m);
    expect(await say(host.you, '!plugin info greeter')).to.match(/State: failed[\s\S]*index\.ts:\d+:\d+: /);
  });

  it('reloads itself, and tells the result when it is there', async () => {
    host.you.say(host.general, '!plugin reload admin');
    await host.discord.expectMessage({ author: host.bot, content: /^Reloaded `admin` 1\.0\.0/ });
    expect(await say(host.you, '!prefix show')).to.match(/^Commands start with `!`/);
  });

  it('disables and enables plugins in this guild, except those that the commands for it need', async () => {
    expect(await say(host.you, '!plugin disable greeter')).to.match(/^`greeter` is off in this server now\./);
    expect(await say(host.alice, '!hello')).to.equal('That command is not available here at the moment.');
    expect(await say(host.you, '!hello')).to.equal(
      'The plugin `greeter` is switched off in this server. `!plugin enable greeter` switches it on.',
    );
    expect(await say(host.you, '!plugin enable greeter')).to.equal('`greeter` is on in this server now.');
    expect(await say(host.alice, '!hello')).to.equal('hello from 1.0.0');
    expect(await say(host.you, '!plugin disable admin')).to.match(/^The plugin "admin" cannot be switched off/);
    expect(await say(host.you, '!plugin unload admin')).to.match(/^The plugin "admin" cannot be switched off/);
  });

  it('leaves the process to the owner of the bot, and the guild to its admins', async () => {
    host.guild.giveRole(host.bob, host.guild.createRole({ name: 'Boss', permissions: ['Administrator'] }));
    expect(await say(host.bob, '!plugin reload greeter')).to.match(/^You may not do that: /);
    expect(await say(host.bob, '!plugin disable greeter')).to.match(/^`greeter` is off/);
    expect(await say(host.alice, '!plugin enable greeter')).to.match(/^You may not do that: /);
    expect(await say(host.alice, '!plugin list')).to.match(/^You may not do that: /);
  });

  it('suggests plugin ids in the slash command', async () => {
    const suggested = host.you.autocomplete(host.general, 'plugin info', 'plugin', 'gree');
    await host.settled();
    expect(suggested.choices?.map(({ value }) => value)).to.deep.equal(['greeter']);
    const shown = host.you.slash(host.general, 'plugin info', { plugin: 'greeter' });
    await host.settled();
    expect(shown.messages[0]?.content).to.match(/^\*\*greeter\*\* 1\.0\.0: Greets/);
  });
});
