import type { TestHost } from '@cinnabar/core/testing';
import { createTestHost } from '@cinnabar/core/testing';
import { definePlugin, option, subcommand, z } from '@cinnabar/sdk';
import type { LocalUser } from '@cinnabar/sdk/testing';
import { expect } from 'chai';
import { answering } from './town.js';

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

/** Much of everything. */
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
  let host: TestHost;
  let say: (user: LocalUser, text: string) => Promise<string>;

  beforeEach(async () => {
    host = await createTestHost({ plugins: ['admin', dice, workshop] });
    say = answering(host);
  });
  afterEach(() => host[Symbol.asyncDispose]());

  const section = async (user: LocalUser) =>
    (await say(user, '!help')).split('\n\n').find((text) => text.startsWith('**dice**'));

  it('only names what there is much of, and tells the rest of one plugin or group', async () => {
    const overview = (await say(host.alice, '!help')).split('\n\n').find((text) => text.startsWith('**workshop**'));
    expect(overview?.split('\n')).to.deep.equal([
      '**workshop**: Full of things',
      '`!work …` a, b, c, d, e, f, g, h, i: `!help work`',
      'Ask me: Does a. (`do_a`)',
      'Ask me: Does b. (`do_b`)',
      'Ask me: Does c. (`do_c`)',
      '… and 6 more: `!help workshop`',
    ]);
    expect(await say(host.alice, '!help workshop'))
      .to.contain('`!work i` Do i')
      .and.to.contain('Does i. (`do_i`)');
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
    expect(await section(host.you)).to.equal(undefined);
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
    expect(await say(host.alice, '!help cheat')).to.match(/^There is no /);
  });

  it('writes commands as the caller does', async () => {
    expect(await say(host.alice, `${host.bot} help roll`)).to.match(/^`@Cinnabar roll <sides> \[why\]`/);
    const interaction = host.alice.slash(host.general, 'help', { topic: 'roll' });
    await host.settled();
    expect(interaction.messages[0]?.content).to.match(/^`\/roll <sides> \[why\]`/);
    expect(interaction.messages[0]?.visibleTo).to.equal(host.alice);
  });
});
