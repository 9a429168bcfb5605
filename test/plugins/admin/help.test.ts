import type { TestHost } from '@cinnabar/core/testing';
import { createTestHost } from '@cinnabar/core/testing';
import type { LocalUser } from '@cinnabar/local-discord';
import { definePlugin, option, subcommand, z } from '@cinnabar/sdk';
import { expect } from 'chai';
import { useSharedHost } from '../../support/shared-host.js';
import { answering } from './harness.js';

const dice = definePlugin({
  manifest: { id: 'dice', version: '1.0.0', description: 'Throws dice' },
  setup({ command, tool }) {
    command({
      name: 'roll',
      aliases: ['r'],
      description: 'Roll dice',
      help: 'The more sides, the rounder.',
      options: {
        sides: z.number().int().min(2).max(100).describe('How many sides'),
        why: option.rest().optional().describe('What it is for'),
      },
      examples: ['roll 20'],
      run: (ctx) => ctx.reply('4'),
    });
    command({
      name: 'cheat',
      description: 'Choose the result',
      access: { tier: 'admin' },
      run: (ctx) => ctx.reply('6'),
    });
    tool({
      name: 'throw_dice',
      description: 'Throw some dice.',
      input: z.object({ dice_count: z.string() }),
      risk: 'read',
      examples: ['throw {dice_count} dice', 'roll {dice_count} dice'],
      run: () => 'thrown',
    });
  },
});

/** A plugin with many commands, options and tools. */
const workshop = definePlugin({
  manifest: { id: 'workshop', version: '1.0.0', description: 'Full of things' },
  setup({ group, tool }) {
    const names = 'abcdefghi'.split('');
    const commands = names.map((name) =>
      subcommand({ name, description: `Do ${name}`, run: (ctx) => ctx.reply(name) }),
    );
    group({ name: 'work', description: 'Work', commands });
    for (const name of names) {
      tool({ name: `do_${name}`, description: `Does ${name}.`, input: z.object({}), risk: 'read', run: () => name });
    }
  },
});

describe('admin: !help', () => {
  const open = useSharedHost(() => ({ plugins: ['admin', dice, workshop] }));
  let host: TestHost;
  let say: (user: LocalUser, text: string) => Promise<string>;

  beforeEach(async () => {
    host = await open();
    say = answering(host);
  });
  afterEach(() => host[Symbol.asyncDispose]());

  const section = (user: LocalUser) => say(user, '!help dice');

  it('begins with a short page: a line for each plugin, and how to go on', async () => {
    expect((await say(host.alice, '!help')).split('\n')).to.deep.equal([
      '**What I can do for you here**',
      '• **dice**: Throws dice (`roll`, ask me)',
      '• **workshop**: Full of things (`work`, ask me)',
      '• **admin**: Help, plugins, prefixes, settings and tool policies (`bot`, `diagnose`, `help`, `language`, `mydata`, `prefix`, `set`, `settings`, `unset`)',
      'More about one: `!help dice`. To search: `!help <words>`.',
    ]);
  });

  it('finds plugins by the words of their description', async () => {
    expect(await say(host.alice, '!help full of')).to.include('• **workshop**: Full of things');
  });

  it('tells much of one plugin in pages', async () => {
    const first = (await say(host.alice, '!help workshop')).split('\n');
    expect(first).to.have.length(17);
    expect(first.at(-1)).to.equal('Page 1 of 2; next: `!help workshop 2`');
    const second = await say(host.alice, '!help workshop 2');
    expect(second)
      .to.contain('Does i. (`do_i`)')
      .and.to.match(/\nPage 2 of 2$/);
  });

  it('finds commands and tools by words of their descriptions', async () => {
    expect(await say(host.alice, '!help some dice')).to.equal(
      '**Found for `some dice`**\nSay “throw {dice count} dice”: Throw some dice. (`throw_dice`)',
    );
    expect(await say(host.alice, '!help choose the result')).to.match(/^There is no /);
  });

  it('shows by plugin what the caller may run, and what can be asked for', async () => {
    expect(await section(host.alice)).to.equal(
      [
        '**dice**: Throws dice',
        '`!roll <sides> [why]` Roll dice',
        'Say “throw {dice count} dice”: Throw some dice. (`throw_dice`)',
      ].join('\n'),
    );
    expect(await section(host.you)).to.include('`!cheat` Choose the result');
  });

  it('shows nothing of what is switched off here', async () => {
    await say(host.you, '!plugin disable dice');
    expect(await say(host.you, '!help')).to.not.contain('dice');
    expect(await section(host.you)).to.match(/^There is no /);
    expect(await say(host.you, '!help roll')).to.match(/^There is no command, plugin or tool called `roll`/);
    expect(await say(host.you, '!help throw_dice')).to.match(/^There is no /);
  });

  it('explains one command, by name, alias or with its prefix', async () => {
    const page = [
      '`!roll <sides> [why]` Roll dice',
      'The more sides, the rounder.',
      'Options:',
      '• `sides`: whole number from 2 to 100; How many sides',
      '• `why`: text to the end of the message; optional; What it is for',
      'Also called: `!r`',
      'Examples: `!roll 20`',
      'Who may use it: everyone',
    ].join('\n');
    for (const name of ['roll', 'R', '!roll']) expect(await say(host.alice, `!help ${name}`)).to.equal(page);
  });

  it('explains groups, plugins and tools', async () => {
    const group = await say(host.you, '!help prefix');
    expect(group)
      .to.match(/^\*\*prefix\*\*\n/)
      .and.to.include('`!prefix add <prefix>`');
    expect(await say(host.alice, '!help dice')).to.match(/^\*\*dice\*\*: Throws dice\n`!roll/);
    expect(await say(host.alice, '!help throw_dice')).to.equal(
      [
        '**throw_dice**: Throw some dice.',
        'Ask me, for example:',
        '• throw {dice count} dice',
        '• roll {dice count} dice',
        'Risk: read',
        'Who may use it: everyone',
      ].join('\n'),
    );
  });

  it('asks what was meant', async () => {
    expect(await say(host.alice, '!help rolll')).to.match(/called `rolll` .*Did you mean `roll`\?$/);
    expect(await say(host.you, '!help plugn')).to.match(/Did you mean `plugin`\?$/);
    expect(await say(host.alice, '!help cheat')).to.match(
      /^There is no .* that you can use here\. `!diagnose me cheat` says why\.$/,
    );
    await say(host.you, '!plugin unload dice');
    expect(await say(host.alice, '!help roll')).to.include('The plugin "dice", which has it, is stopped.');
    expect(await say(host.alice, '!help dices')).to.include('The plugin "dice", which may have it, is stopped.');
    await say(host.you, '!plugin load dice');
  });

  it('writes commands as the caller does', async () => {
    expect(await say(host.alice, `${host.bot} help roll`)).to.match(/^`@Cinnabar roll <sides> \[why\]`/);
    const interaction = host.alice.slash(host.general, 'help', { topic: 'roll' });
    await host.settled();
    expect(interaction.messages[0]?.content).to.match(/^`\/roll <sides> \[why\]`/);
    expect(interaction.messages[0]?.visibleTo).to.equal(host.alice);
  });
});

describe('admin: !help and what is not set up', () => {
  const isSetUp = new Set<string | null>();
  const radio = definePlugin({
    manifest: { id: 'radio', version: '1.0.0', description: 'Plays stations' },
    setup({ command, tool, needsSetup }) {
      needsSetup((guildId) =>
        isSetUp.has(guildId) ? undefined : { problem: 'There is no station.', remedy: 'Use `radio add <address>`.' },
      );
      command({ name: 'tune', description: 'Tune in to a station', run: (ctx) => ctx.reply('♪') });
      const tuned = { input: z.object({}), risk: 'read', run: () => '♪' } as const;
      tool({ name: 'tune_in', description: 'Tunes in to a station.', examples: [], ...tuned });
    },
  });

  it('lists for members only what works, and says to admins what is missing and what to do', async () => {
    await using host = await createTestHost({ plugins: ['admin', dice, radio, 'relay', 'mcp', 'persona'] });
    const say = answering(host);
    expect(await say(host.alice, '!help'))
      .to.include('**dice**')
      .and.not.match(/radio|Not set up|relay/);
    expect(await say(host.alice, '!help tune')).to.include('There is no command');
    expect(await say(host.alice, '!help tunes station')).to.include('There is no command');
    expect(await say(host.you, '!help'))
      .to.include('Not set up: ')
      .and.include('radio (`!plugin info radio`)')
      .and.include('relay (`!plugin info relay`)')
      .and.include('mcp (`!plugin info mcp`)')
      .and.include('persona (`!plugin info persona`)')
      .and.not.include('**radio**');
    expect(await say(host.you, '!plugin info radio')).to.include(
      'Not set up here: There is no station. Use `radio add <address>`.',
    );
    expect(await say(host.you, '!plugin info relay')).to.include(
      'No agent lives in this server. Use `relay agent <id>`',
    );

    isSetUp.add(host.guild.id);
    expect(await say(host.alice, '!help')).to.include('**radio**');
    expect(await say(host.you, '!help'))
      .to.include('**radio**')
      .and.not.include('plugin info radio');
    expect(await say(host.you, '!plugin info radio')).not.to.include('Not set up');
  });
});
