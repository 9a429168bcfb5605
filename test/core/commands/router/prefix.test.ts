import { option, subcommand, subgroup, z } from '@cinnabar/sdk';
import { expect } from 'chai';
import { type Bench, createBench } from '../support/bench.js';

describe('prefix commands', () => {
  let bench: Bench;
  before(async () => {
    bench = await createBench();
    const dice = bench.owner('dice');
    bench.commands.command(dice, {
      name: 'roll',
      description: 'Rolls dice',
      aliases: ['r'],
      options: { sides: z.int().min(2).max(100), times: z.int().default(1) },
      run: (context, { sides, times }) => context.reply(`${context.prefix}${context.name} ${sides} x${times}`),
    });
    bench.commands.command(dice, {
      name: 'say',
      description: 'Says it',
      options: { text: option.rest() },
      run: (context, { text }) => context.reply(String(text)),
    });
    bench.commands.command(dice, { name: 'menu', description: 'Slash', surface: 'slash', run: () => undefined });
    bench.commands.group(dice, {
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
    bench.commands.group(bench.owner('admin'), {
      name: 'plugin',
      description: 'Plugins',
      access: { tier: 'botOwner' },
      commands: [subcommand({ name: 'list', description: 'Lists', run: (context) => context.reply('list') })],
    });
  });
  after(() => bench[Symbol.asyncDispose]());
  afterEach(() => {
    bench.prefixes = ['!'];
    bench.disabled.clear();
  });

  it('run by name and by alias, whatever the case, with the defaults filled in', async () => {
    expect(await bench.ask(bench.alice, '!roll 20')).to.deep.equal(['!roll 20 x1']);
    expect(await bench.ask(bench.alice, '!R 20 3')).to.deep.equal(['!roll 20 x3']);
    expect(await bench.ask(bench.alice, '!  roll   20')).to.deep.equal(['!roll 20 x1']);
  });

  it('run after a mention of the bot', async () => {
    const mention = `<@${bench.app.user.id}>`;
    expect(await bench.ask(bench.alice, `${mention} roll 20`)).to.deep.equal([`${mention}roll 20 x1`]);
    expect(await bench.ask(bench.alice, `<@!${bench.app.user.id}>roll 20`)).to.have.length(1);
  });

  it('run after any of the guild’s prefixes', async () => {
    bench.prefixes = ['!', '!!', 'dice '];
    expect(await bench.ask(bench.alice, '!!roll 20')).to.deep.equal(['!!roll 20 x1']);
    expect(await bench.ask(bench.alice, 'dice roll 20')).to.deep.equal(['dice roll 20 x1']);
    expect(await bench.ask(bench.alice, '?roll 20')).to.deep.equal([]);
  });

  it('answer the message that called them, and ping only its author', async () => {
    const [answer] = await bench.answers(bench.alice, `!say hello @everyone <@${bench.you.id}> <@${bench.alice.id}>`);
    expect(answer?.replyTo?.author).to.equal(bench.alice);
    expect(answer?.mentions.everyone).to.equal(false);
    expect(answer?.mentions.users).to.deep.equal([bench.alice]);
  });

  it('are told apart from talk, from other bots’ commands and from slash commands', async () => {
    for (const talk of ['hello', '!', '! ', 'roll 20', '!!roll', '!play song', '!menu', `<@${bench.app.user.id}> hi`]) {
      expect(await bench.ask(bench.alice, talk), talk).to.deep.equal([]);
      expect(bench.ran.has(talk), talk).to.equal(false);
    }
  });

  it('are not run for bots', async () => {
    const other = bench.discord.createApplication({ name: 'Other', owner: bench.you });
    bench.guild.invite(other);
    expect(await bench.ask(other.user, '!roll 20')).to.deep.equal([]);
  });

  it('hand over the rest of a message as it was typed', async () => {
    expect(await bench.ask(bench.alice, '!say "hi"  there\n> `x`')).to.deep.equal(['"hi"  there\n> `x`']);
  });

  it('split an answer that is over Discord’s limit, code fences whole', async () => {
    const code = Array.from({ length: 120 }, (_, line) => `console.log(${line}, "night city");`).join('\n');
    bench.commands.command(bench.owner('long'), {
      name: 'long',
      description: 'Long',
      run: (context) => context.reply(`Here:\n\`\`\`js\n${code}\n\`\`\``),
    });
    const parts = await bench.answers(bench.alice, '!long');
    expect(parts.length).to.be.above(1);
    for (const part of parts) expect((part.content.match(/```/g) ?? []).length % 2, part.content).to.equal(0);
    expect(parts.map((part) => part.replyTo !== undefined)).to.deep.equal(parts.map((_, index) => index === 0));
  });

  it('say that they are not available where their plugin is switched off, and do nothing', async () => {
    bench.disabled.add('dice');
    expect(await bench.ask(bench.alice, '!roll 20')).to.deep.equal([
      'That command is not available here at the moment.',
    ]);
    expect(await bench.ask(bench.alice, '!rol 20')).to.deep.equal([]);
  });

  it('say why they are refused', async () => {
    expect(await bench.ask(bench.alice, '!bag burn')).to.deep.equal([
      'You may not do that: you need to be at least admin here',
    ]);
    expect(await bench.ask(bench.you, '!bag burn')).to.deep.equal(['burnt']);
  });

  it('are found inside groups, by name and alias', async () => {
    expect(await bench.ask(bench.alice, '!b o')).to.deep.equal(['open']);
    expect(await bench.ask(bench.alice, '!bag die add 6')).to.deep.equal(['bag die add 6']);
  });

  it('show what a group can do, as far as the member may', async () => {
    const help = [
      '**!bag**: A bag of dice',
      '`!bag open` Opens it',
      '`!bag burn` Burns it',
      '`!bag die add <sides>` Adds one',
    ];
    expect(await bench.ask(bench.you, '!bag')).to.deep.equal([help.join('\n')]);
    expect(await bench.ask(bench.alice, '!bag')).to.deep.equal([
      help.filter((line) => !line.includes('burn')).join('\n'),
    ]);
    expect(await bench.ask(bench.alice, '!plugin')).to.deep.equal([
      'You may not do that: you need to be at least botOwner here',
    ]);
  });

  it('say so when a group has no such command, with the nearest one', async () => {
    const [answer] = await bench.ask(bench.alice, '!bag opne');
    expect(answer).to.match(/^There is no `!bag opne`. Did you mean `!bag open`\?\n\*\*!bag\*\*/);
  });

  it('ask "did you mean" for what is near and may be used, and keep silent otherwise', async () => {
    expect(await bench.ask(bench.alice, '!rol 20')).to.deep.equal(['There is no `!rol`. Did you mean `!roll`?']);
    expect(await bench.ask(bench.alice, '!plugn list')).to.deep.equal([]);
    expect(await bench.ask(bench.you, '!plugn list')).to.deep.equal(['There is no `!plugn`. Did you mean `!plugin`?']);
    expect(await bench.ask(bench.alice, `<@${bench.app.user.id}> rol 20`)).to.deep.equal([]);
  });

  it('work in direct messages, where a slip is left to the conversation', async () => {
    const dm = bench.alice.openDm(bench.app);
    expect(await bench.ask(bench.alice, '!roll 20', dm)).to.deep.equal(['!roll 20 x1']);
    expect(await bench.ask(bench.alice, '!rol 20', dm)).to.deep.equal([]);
  });

  it('answer also when the message that called them is gone', async () => {
    const owner = bench.owner('slow');
    let release: () => void = () => undefined;
    const gate = new Promise<void>((resolve) => {
      release = resolve;
    });
    bench.commands.command(owner, {
      name: 'slow',
      description: 'Slow',
      run: async (context) => {
        await gate;
        await context.reply('still here');
      },
    });
    const message = bench.alice.say(bench.general, '!slow');
    await bench.discord.settled();
    bench.alice.delete(message);
    await bench.discord.settled();
    release();
    expect((await bench.discord.expectMessage({ content: 'still here' })).replyTo).to.equal(undefined);
  });

  it('are logged once, and have no other effect, where the bot may not write', async () => {
    const quiet = bench.guild.createChannel({ name: 'quiet' });
    bench.guild.overwrite(quiet, { for: bench.app.user, deny: ['SendMessages'] });
    const before = bench.logged.length;
    expect(await bench.ask(bench.alice, '!roll 20', quiet)).to.deep.equal([]);
    expect(await bench.ask(bench.alice, '!roll', quiet)).to.deep.equal([]);
    expect(bench.logged.slice(before).map(({ level, message }) => `${level} ${message}`)).to.deep.equal([
      'warn the bot cannot answer commands in this channel',
    ]);
  });

  it('leave nothing when their plugin goes', async () => {
    const owner = bench.owner('brief');
    bench.commands.command(owner, { name: 'brief', description: 'Brief', run: (context) => context.reply('here') });
    expect(await bench.ask(bench.alice, '!brief')).to.deep.equal(['here']);
    await owner.scope.close();
    expect(await bench.ask(bench.alice, '!brief')).to.deep.equal([]);
  });
});
