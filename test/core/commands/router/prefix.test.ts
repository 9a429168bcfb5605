import { option, subcommand, subgroup, z } from '@cinnabar/sdk';
import { expect } from 'chai';
import { createHarness, type Harness } from '../support/harness.js';

describe('prefix commands', () => {
  let harness: Harness;
  before(async () => {
    harness = await createHarness();
    const dice = harness.owner('dice');
    harness.commands.command(dice, {
      name: 'roll',
      description: 'Rolls dice',
      aliases: ['r'],
      options: { sides: z.int().min(2).max(100), times: z.int().default(1) },
      run: (context, { sides, times }) => context.reply(`${context.prefix}${context.name} ${sides} x${times}`),
    });
    harness.commands.command(dice, {
      name: 'say',
      description: 'Says it',
      options: { text: option.rest() },
      run: (context, { text }) => context.reply(String(text)),
    });
    harness.commands.command(dice, { name: 'menu', description: 'Slash', surface: 'slash', run: () => undefined });
    harness.commands.group(dice, {
      name: 'bag',
      description: 'A bag of dice',
      aliases: ['b'],
      commands: [
        subcommand({ name: 'open', description: 'Opens it', aliases: ['o'], run: (context) => context.reply('open') }),
        subcommand({
          name: 'burn',
          description: 'Burns it',
          access: { tier: 'admin' },
          run: (context) => context.reply('burnt'),
        }),
        subgroup({
          name: 'die',
          description: 'One die',
          commands: [
            subcommand({
              name: 'add',
              description: 'Adds one',
              options: { sides: z.int() },
              run: (context, { sides }) => context.reply(`${context.name} ${sides}`),
            }),
          ],
        }),
      ],
    });
    harness.commands.group(harness.owner('admin'), {
      name: 'plugin',
      description: 'Plugins',
      access: { tier: 'botOwner' },
      commands: [subcommand({ name: 'list', description: 'Lists', run: (context) => context.reply('list') })],
    });
  });
  after(() => harness[Symbol.asyncDispose]());
  afterEach(() => {
    harness.prefixes = ['!'];
    harness.disabled.clear();
  });

  it('run by name and by alias, whatever the case, with the defaults filled in', async () => {
    expect(await harness.ask(harness.alice, '!roll 20')).to.deep.equal(['!roll 20 x1']);
    expect(await harness.ask(harness.alice, '!R 20 3')).to.deep.equal(['!roll 20 x3']);
    expect(await harness.ask(harness.alice, '!  roll   20')).to.deep.equal(['!roll 20 x1']);
  });

  it('run after a mention of the bot', async () => {
    const mention = `<@${harness.app.user.id}>`;
    expect(await harness.ask(harness.alice, `${mention} roll 20`)).to.deep.equal([`${mention}roll 20 x1`]);
    expect(await harness.ask(harness.alice, `<@!${harness.app.user.id}>roll 20`)).to.have.length(1);
  });

  it('run after any of the guild’s prefixes', async () => {
    harness.prefixes = ['!', '!!', 'dice '];
    expect(await harness.ask(harness.alice, '!!roll 20')).to.deep.equal(['!!roll 20 x1']);
    expect(await harness.ask(harness.alice, 'dice roll 20')).to.deep.equal(['dice roll 20 x1']);
    expect(await harness.ask(harness.alice, '?roll 20')).to.deep.equal([]);
  });

  it('answer the message that called them, and ping only its author', async () => {
    const [answer] = await harness.answers(
      harness.alice,
      `!say hello @everyone <@${harness.you.id}> <@${harness.alice.id}>`,
    );
    expect(answer?.replyTo?.author).to.equal(harness.alice);
    expect(answer?.mentions.everyone).to.equal(false);
    expect(answer?.mentions.users).to.deep.equal([harness.alice]);
  });

  it('are told apart from talk, from other bots’ commands and from slash commands', async () => {
    for (const talk of [
      'hello',
      '!',
      '! ',
      'roll 20',
      '!!roll',
      '!play song',
      '!menu',
      `<@${harness.app.user.id}> hi`,
    ]) {
      expect(await harness.ask(harness.alice, talk), talk).to.deep.equal([]);
      expect(harness.ran.has(talk), talk).to.equal(false);
    }
  });

  it('are not run for bots', async () => {
    const other = harness.discord.createApplication({ name: 'Other', owner: harness.you });
    harness.guild.invite(other);
    expect(await harness.ask(other.user, '!roll 20')).to.deep.equal([]);
  });

  it('hand over the rest of a message as it was typed', async () => {
    expect(await harness.ask(harness.alice, '!say "hi"  there\n> `x`')).to.deep.equal(['"hi"  there\n> `x`']);
  });

  it('split an answer that is over Discord’s limit, code fences whole', async () => {
    const code = Array.from({ length: 120 }, (_, line) => `console.log(${line}, "night city");`).join('\n');
    harness.commands.command(harness.owner('long'), {
      name: 'long',
      description: 'Long',
      run: (context) => context.reply(`Here:\n\`\`\`js\n${code}\n\`\`\``),
    });
    const parts = await harness.answers(harness.alice, '!long');
    expect(parts.length).to.be.above(1);
    for (const part of parts) expect((part.content.match(/```/g) ?? []).length % 2, part.content).to.equal(0);
    expect(parts.map((part) => part.replyTo !== undefined)).to.deep.equal(parts.map((_, index) => index === 0));
  });

  it('say that they are not available where their plugin is switched off, and do nothing', async () => {
    harness.disabled.add('dice');
    expect(await harness.ask(harness.alice, '!roll 20')).to.deep.equal([
      'That command is not available here at the moment.',
    ]);
    expect(await harness.ask(harness.alice, '!rol 20')).to.deep.equal([]);
  });

  it('say why they are refused', async () => {
    expect(await harness.ask(harness.alice, '!bag burn')).to.deep.equal([
      'You may not do that: you need to be at least admin here',
    ]);
    expect(await harness.ask(harness.you, '!bag burn')).to.deep.equal(['burnt']);
  });

  it('are found inside groups, by name and alias', async () => {
    expect(await harness.ask(harness.alice, '!b o')).to.deep.equal(['open']);
    expect(await harness.ask(harness.alice, '!bag die add 6')).to.deep.equal(['bag die add 6']);
  });

  it('show what a group can do, as far as the member may', async () => {
    const help = [
      '**!bag**: A bag of dice',
      '`!bag open` Opens it',
      '`!bag burn` Burns it',
      '`!bag die add <sides>` Adds one',
    ];
    expect(await harness.ask(harness.you, '!bag')).to.deep.equal([help.join('\n')]);
    expect(await harness.ask(harness.alice, '!bag')).to.deep.equal([
      help.filter((line) => !line.includes('burn')).join('\n'),
    ]);
    expect(await harness.ask(harness.alice, '!plugin')).to.deep.equal([
      'You may not do that: you need to be at least botOwner here',
    ]);
  });

  it('say so when a group has no such command, with the nearest one', async () => {
    const [answer] = await harness.ask(harness.alice, '!bag opne');
    expect(answer).to.match(/^There is no `!bag opne`. Did you mean `!bag open`\?\n\*\*!bag\*\*/);
  });

  it('ask "did you mean" for what is near and may be used, and keep silent otherwise', async () => {
    expect(await harness.ask(harness.alice, '!rol 20')).to.deep.equal(['There is no `!rol`. Did you mean `!roll`?']);
    expect(await harness.ask(harness.alice, '!plugn list')).to.deep.equal([]);
    expect(await harness.ask(harness.you, '!plugn list')).to.deep.equal([
      'There is no `!plugn`. Did you mean `!plugin`?',
    ]);
    expect(await harness.ask(harness.alice, `<@${harness.app.user.id}> rol 20`)).to.deep.equal([]);
  });

  it('work in direct messages, where a slip is left to the conversation', async () => {
    const dm = harness.alice.openDm(harness.app);
    expect(await harness.ask(harness.alice, '!roll 20', dm)).to.deep.equal(['!roll 20 x1']);
    expect(await harness.ask(harness.alice, '!rol 20', dm)).to.deep.equal([]);
  });

  it('answer also when the message that called them is gone', async () => {
    const owner = harness.owner('slow');
    let release: () => void = () => undefined;
    const gate = new Promise<void>((resolve) => {
      release = resolve;
    });
    harness.commands.command(owner, {
      name: 'slow',
      description: 'Slow',
      run: async (context) => {
        await gate;
        await context.reply('still here');
      },
    });
    const message = harness.alice.say(harness.general, '!slow');
    await harness.discord.settled();
    harness.alice.delete(message);
    await harness.discord.settled();
    release();
    expect((await harness.discord.expectMessage({ content: 'still here' })).replyTo).to.equal(undefined);
  });

  it('are logged once, and have no other effect, where the bot may not write', async () => {
    const quiet = harness.guild.createChannel({ name: 'quiet' });
    harness.guild.overwrite(quiet, { for: harness.app.user, deny: ['SendMessages'] });
    const before = harness.logged.length;
    expect(await harness.ask(harness.alice, '!roll 20', quiet)).to.deep.equal([]);
    expect(await harness.ask(harness.alice, '!roll', quiet)).to.deep.equal([]);
    expect(harness.logged.slice(before).map(({ level, message }) => `${level} ${message}`)).to.deep.equal([
      'warn the bot cannot answer commands in this channel',
    ]);
  });

  it('leave nothing when their plugin goes', async () => {
    const owner = harness.owner('brief');
    harness.commands.command(owner, { name: 'brief', description: 'Brief', run: (context) => context.reply('here') });
    expect(await harness.ask(harness.alice, '!brief')).to.deep.equal(['here']);
    await owner.scope.close();
    expect(await harness.ask(harness.alice, '!brief')).to.deep.equal([]);
  });
});
