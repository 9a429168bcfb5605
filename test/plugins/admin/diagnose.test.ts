import { createTestHost, type TestHost } from '@cinnabar/core/testing';
import type { LocalUser } from '@cinnabar/local-discord';
import { definePlugin, subcommand, z } from '@cinnabar/sdk';
import { expect } from 'chai';
import { answering } from './harness.js';

let isSetUp = true;
const vault = definePlugin({
  manifest: { id: 'vault', version: '1.0.0', description: 'Keeps things', permissions: ['AttachFiles'] },
  setup({ command, group, tool, needsSetup }) {
    command({ name: 'open', description: 'Open it', access: { tier: 'mod' }, run: (ctx) => ctx.reply('Open') });
    command({ name: 'peek', description: 'Look into it', run: (ctx) => ctx.reply('Gold') });
    group({
      name: 'coins',
      description: 'Coins',
      commands: [
        subcommand({ name: 'count', description: 'Count them', run: (ctx) => ctx.reply('3') }),
        subcommand({ name: 'melt', description: 'Melt', access: { tier: 'mod' }, run: (ctx) => ctx.reply('0') }),
      ],
    });
    command({
      name: 'burn',
      description: 'Burn',
      access: { tier: 'mod', member: ['KickMembers'] },
      run: (ctx) => ctx.reply('Ash'),
    });
    tool({ name: 'count_gold', description: 'Count', input: z.object({}), risk: 'read', run: () => '3' });
    needsSetup(() => (isSetUp ? undefined : { problem: 'The vault has no door.', remedy: 'Run `door build`.' }));
  },
});

describe('admin: switches and diagnoses', () => {
  let host: TestHost;
  let say: (user: LocalUser, text: string) => Promise<string>;
  before(async () => {
    host = await createTestHost({ plugins: ['admin', vault] });
    say = answering(host);
  });
  after(() => host[Symbol.asyncDispose]());
  const obstacle = async (what: string) =>
    /\*\*First obstacle\*\*: (.*)$/m.exec(await say(host.you, `!diagnose ${host.alice} ${what}`))?.[1];

  it('!command switches a command off for everyone, and on again', async () => {
    expect(await say(host.you, '!command disable peek')).to.equal('`peek` is off here now.');
    expect(await say(host.alice, '!peek')).to.include('denies the command `peek` for everyone');
    expect(await say(host.you, '!command list')).to.equal('Off here: `peek`');
    expect(await say(host.you, '!command enable peek')).to.equal('`peek` is on here now.');
    expect(await say(host.alice, '!peek')).to.equal('Gold');
    expect(await say(host.you, '!command disable peak')).to.equal('There is no command called `peak`.');
  });

  it('asks before a command goes without which a server cannot be mended', async () => {
    const press = async (label: string) => {
      const asked = host.general.messages.at(-1);
      if (asked !== undefined) host.you.click(asked, label);
      await host.settled();
      return host.general.messages.at(-1)?.content ?? '';
    };
    expect(await say(host.you, '!command disable help')).to.include('is needed to mend what is set here');
    expect(await press('Cancel')).to.match(/Not done\.$/);
    expect(await say(host.alice, '!help')).to.include('What I can do for you here');
    for (const what of ['access', 'plugin:admin'])
      expect(await say(host.you, `!access deny ${what} everyone`)).to.include('is needed to mend');
    await press('Cancel');
    await say(host.you, '!command disable help');
    expect(await press('Switch it off all the same')).to.equal('`help` is off here now.');
    expect(await say(host.you, '!command list')).to.equal('Off here: `help`');
    // The user is the owner of the bot and of the server.
    expect(await say(host.you, '!help')).to.include('What I can do for you here');
    await say(host.you, '!command enable help');
  });

  it('!diagnose names a member by name, and all that has to be mended', async () => {
    const text = await say(host.you, '!diagnose Alice burn');
    expect(text).to.match(/\*\*First obstacle\*\*: you need to be at least a moderator/);
    expect(text).to.match(
      /\*\*Also in the way\*\*: you lack Kick Members .*\*\*Remedy\*\*: Give one of their roles Kick Members/,
    );
    expect(await say(host.you, '!diagnose nosuch burn')).to.include('no member called `nosuch`');
  });

  it('!diagnose of a command whose plugin is not loaded names the plugin', async () => {
    await say(host.you, '!plugin unload vault');
    expect(await say(host.you, '!diagnose me peek')).to.equal(
      '`peek` is a command of the plugin "vault", which is stopped. The owner of the bot loads it with `plugin load vault`.',
    );
    expect(await say(host.you, '!diagnose me vaults')).to.include('The plugin "vault", which may have it, is stopped');
    await say(host.you, '!plugin load vault');
    expect(await say(host.you, '!diagnose me peek')).to.include('Nothing stands in the way');
  });

  it('!tool switches a tool off and on, and lists those of one plugin', async () => {
    expect(await say(host.you, '!tool disable count_gold')).to.equal('`count_gold` is off here now.');
    expect(await obstacle('count_gold')).to.match(
      /^the policy for this tool here is `deny`\. .*`tool enable count_gold`/,
    );
    expect(await say(host.you, '!tool enable count_gold')).to.equal('`count_gold` is on here now.');
    expect(await say(host.you, '!tool list vault')).to.match(/^\*\*Tools\*\* \(1\)\n• `count_gold`/);
    expect(await say(host.you, '!tool list admin')).to.include('`admin` is neither a plugin with tools');
  });

  // The limit is ten commands in half a minute.
  beforeEach(() => host.advance(30_000));

  it('!diagnose names the first obstacle and what removes it, in the order in which things have to work', async () => {
    expect(await obstacle('open')).to.match(/^you need to be at least a moderator .*`access allow open <@\d+>`/);
    await say(host.you, '!access deny open everyone');
    expect(await obstacle('open')).to.match(
      /^a rule of this server denies the command `open` .*`access clear open everyone`/,
    );
    isSetUp = false;
    expect(await obstacle('vault')).to.equal('The vault has no door. **Remedy**: Run `door build`.');
    await say(host.you, '!plugin disable vault');
    expect(await obstacle('open')).to.match(/^the plugin "vault" is switched off here\. .*`plugin enable vault`/);
    await say(host.you, '!plugin enable vault');
    isSetUp = true;
    await say(host.you, '!access clear all');
    expect(await say(host.you, '!diagnose me vault')).to.include('Nothing stands in the way here.');
  });

  it('holds a group for usable as long as one of its commands is', async () => {
    const text = await say(host.you, `!diagnose ${host.alice} coins`);
    expect(text)
      .to.include('Nothing stands in the way here.')
      .and.match(/⚠ `coins melt`: you need to be .*access allow "coins melt"/);
    await say(host.you, '!access deny "coins count" everyone');
    expect(await obstacle('coins')).to.match(/^`coins count`: a rule of this server denies/);
    await say(host.you, '!access clear all');
  });

  it('tells members about themselves alone', async () => {
    expect(await say(host.alice, '!diagnose me open')).to.include('✗ you need to be at least a moderator');
    expect(await say(host.alice, `!diagnose ${host.bob} open`)).to.include('you need to be at least an admin');
    expect(await say(host.alice, '!diagnose nobody open')).to.include('by mention, id or name');
    expect(await say(host.alice, '!diagnose me nothing')).to.include(
      'There is no command, tool or plugin called `nothing`',
    );
  });
});
