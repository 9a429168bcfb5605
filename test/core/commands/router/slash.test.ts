import { option, subcommand, UserError, z } from '@cinnabar/sdk';
import { expect } from 'chai';
import { createHarness, type Harness } from '../support/harness.js';

const run = () => undefined;

/** A gate that the test opens; the command under test waits for it. */
function createGate(): { readonly passed: Promise<void>; open(): void } {
  let open: () => void = () => undefined;
  const passed = new Promise<void>((resolve) => {
    open = resolve;
  });
  return { passed, open };
}

describe('slash commands', () => {
  let harness: Harness;
  beforeEach(async () => {
    harness = await createHarness();
  });
  afterEach(() => harness[Symbol.asyncDispose]());

  type Definition = Parameters<Harness['commands']['command']>[1];
  const register = async (definition: Partial<Definition>) => {
    const owner = harness.owner('dice');
    harness.commands.command(owner, { name: 'roll', description: 'Rolls', run, ...definition });
    await harness.commands.syncAll();
    return owner;
  };
  const contents = (interaction: { messages: readonly { content: string; ephemeral: boolean }[] }) =>
    interaction.messages.map((message) => (message.ephemeral ? `(only you) ${message.content}` : message.content));

  it('run with options by the same schemas, defaults filled in', async () => {
    const role = harness.guild.createRole({ name: 'Fixers' });
    await harness.settled();
    await register({
      options: {
        sides: z.int().min(2),
        who: option.member(),
        role: option.role(),
        where: option.channel(),
        style: z.enum(['Plain', 'Terminal']),
        last: option.duration(),
        quiet: z.boolean(),
        picture: option.attachment().optional(),
        times: z.int().default(3),
      },
      run: (context, values) =>
        context.reply(
          [context.source, context.prefix, context.member?.displayName, ...Object.values(values).map(String)].join(' '),
        ),
    });
    const interaction = harness.alice.slash(harness.general, 'roll', {
      sides: 20,
      who: harness.you,
      role,
      where: harness.general,
      style: 'Terminal',
      last: '1m',
      quiet: true,
    });
    await interaction.answered();
    expect(contents(interaction)).to.deep.equal([
      `slash / Alice 20 <@${harness.you.id}> <@&${role.id}> <#${harness.general.id}> Terminal 60000 true undefined 3`,
    ]);
  });

  it('take files', async () => {
    await register({
      options: { picture: option.attachment().transform((file) => file.name) },
      run: (context, { picture }) => context.reply(String(picture)),
    });
    const interaction = harness.alice.slash(harness.general, 'roll', {
      picture: { name: 'v.png', data: Buffer.from('x') },
    });
    await interaction.answered();
    expect(contents(interaction)).to.deep.equal(['v.png']);
  });

  it('run inside groups', async () => {
    harness.commands.group(harness.owner('dice'), {
      name: 'bag',
      description: 'Dice',
      commands: [
        subcommand({
          name: 'add',
          description: 'Adds',
          options: { sides: z.int() },
          run: (context, { sides }) => context.reply(`${context.name} ${sides}`),
        }),
      ],
    });
    await harness.commands.syncAll();
    const interaction = await harness.alice.slash(harness.general, 'bag add', { sides: 6 }).answered();
    expect(contents(interaction)).to.deep.equal(['bag add 6']);
  });

  it('run in direct messages', async () => {
    await register({ run: (context) => context.reply(`here ${context.guild === null}`) });
    const dm = harness.alice.openDm(harness.app);
    const interaction = await harness.alice.slash(dm, 'roll').answered();
    expect(contents(interaction)).to.deep.equal(['here true']);
  });

  it('answer first, then follow up, each as visible as it says', async () => {
    await register({
      run: async (context) => {
        await context.reply('one');
        await context.reply({ content: 'two', ephemeral: true });
        const last = await context.reply('three');
        await last.react('🎲');
      },
    });
    const interaction = harness.alice.slash(harness.general, 'roll');
    await harness.settled();
    expect(contents(interaction)).to.deep.equal(['one', '(only you) two', 'three']);
    expect(interaction.messages.at(-1)?.reactedBy('🎲')).to.have.length(1);
  });

  it('answer the caller alone when they are declared so', async () => {
    await register({ ephemeral: true, run: (context) => context.reply('secret') });
    const interaction = await harness.alice.slash(harness.general, 'roll').answered();
    expect(contents(interaction)).to.deep.equal(['(only you) secret']);
  });

  it('split what is over Discord’s limit into follow-ups', async () => {
    await register({ run: (context) => context.reply(`${'word '.repeat(500)}\nend`) });
    const interaction = harness.alice.slash(harness.general, 'roll');
    await harness.settled();
    expect(interaction.messages.length).to.equal(2);
    expect(interaction.messages.at(-1)?.content).to.match(/end$/);
  });

  it('say that they are done when they say nothing', async () => {
    await register({});
    const interaction = await harness.alice.slash(harness.general, 'roll').answered();
    expect(contents(interaction)).to.deep.equal(['(only you) Done.']);
  });

  it('are deferred after two seconds, and answered when they are ready', async () => {
    const gate = createGate();
    await register({
      run: async (context) => {
        await gate.passed;
        await context.reply('at last');
        await context.reply('and more');
      },
    });
    const interaction = harness.alice.slash(harness.general, 'roll');
    await harness.discord.settled();
    expect(interaction.state).to.equal('waiting');
    harness.clock.advance(2_000);
    await harness.discord.settled();
    expect(interaction.state).to.equal('deferred');
    harness.clock.advance(60_000);
    gate.open();
    await harness.settled();
    expect(contents(interaction)).to.deep.equal(['at last', 'and more']);
  });

  it('keep an answer to the caller alone, although the deferral was for everyone', async () => {
    const gate = createGate();
    await register({
      run: async () => {
        await gate.passed;
        throw new UserError('The bag is empty.');
      },
    });
    harness.alice.slash(harness.general, 'roll');
    await harness.discord.settled();
    harness.clock.advance(2_000);
    await harness.discord.settled();
    gate.open();
    await harness.settled();
    const seen = (who: typeof harness.you) => who.read(harness.general).map((message) => message.content);
    expect(seen(harness.alice)).to.deep.equal(['The bag is empty.']);
    expect(seen(harness.you)).to.deep.equal([]);
  });

  it('leave no timer behind', async () => {
    await register({ run: (context) => context.reply('done') });
    const before = harness.clock.pending;
    await harness.alice.slash(harness.general, 'roll').answered();
    await harness.settled();
    expect(harness.clock.pending).to.equal(before);
  });

  it('tell the caller alone why they are refused', async () => {
    await register({ access: { tier: 'mod' }, run: (context) => context.reply('rolled') });
    const interaction = await harness.alice.slash(harness.general, 'roll').answered();
    expect(contents(interaction)).to.deep.equal(['(only you) You may not do that: you need to be at least mod here']);
  });

  it('tell the caller alone what is wrong with an option, or that it is too soon', async () => {
    await register({
      options: { sides: z.int().refine((n) => n % 2 === 0, 'must be even') },
      cooldown: { uses: 1, perMs: 5_000 },
      run: (context) => context.reply('rolled'),
    });
    const texts = [];
    for (const sides of [3, 4, 4]) {
      const interaction = await harness.alice.slash(harness.general, 'roll', { sides }).answered();
      texts.push(...contents(interaction));
    }
    expect(texts).to.deep.equal([
      '(only you) `sides`: must be even.',
      'rolled',
      '(only you) Please wait 5 s before using this again.',
    ]);
  });

  it('give a reference for what is no answer for people', async () => {
    await register({
      run: () => {
        throw new TypeError('oops');
      },
    });
    const interaction = await harness.alice.slash(harness.general, 'roll').answered();
    await harness.settled();
    expect(contents(interaction).join()).to.match(/^\(only you\) Something went wrong .*reference `ref1`/);
    expect(harness.logged.map((entry) => entry.message)).to.include('command roll failed');
  });

  it('say that they are gone when Discord still shows them', async () => {
    const owner = await register({});
    harness.disabled.add('dice');
    const disabled = await harness.alice.slash(harness.general, 'roll').answered();
    await owner.scope.close();
    const gone = await harness.alice.slash(harness.general, 'roll').answered();
    for (const interaction of [disabled, gone]) {
      expect(contents(interaction)).to.deep.equal(['(only you) That command is not available here at the moment.']);
    }
  });

  describe('suggestions', () => {
    it('come from the option, at most twenty-five', async () => {
      const all = Array.from({ length: 40 }, (_, index) => ({ name: `Die ${index}`, value: `d${index}` }));
      await register({
        options: { die: option.suggested((typed) => all.filter(({ value }) => value.startsWith(typed))) },
      });
      const some = await harness.alice.autocomplete(harness.general, 'roll', 'die', 'd3').answered();
      expect(some.choices?.map(({ value }) => value)).to.deep.equal([
        'd3',
        ...Array.from({ length: 10 }, (_, index) => `d3${index}`),
      ]);
      const many = await harness.alice.autocomplete(harness.general, 'roll', 'die', 'd').answered();
      expect(many.choices).to.have.length(25);
    });

    it('come from choices that are too many for Discord’s list', async () => {
      await register({ options: { die: z.enum(Array.from({ length: 30 }, (_, index) => `D${index}`)) } });
      const typing = await harness.alice.autocomplete(harness.general, 'roll', 'die', 'd29').answered();
      expect(typing.choices).to.deep.equal([{ name: 'D29', value: 'D29' }]);
    });

    it('are none, and logged, when they cannot be made', async () => {
      await register({
        options: {
          die: option.suggested(() => {
            throw new TypeError('oops');
          }),
        },
      });
      const typing = await harness.alice.autocomplete(harness.general, 'roll', 'die', 'd').answered();
      expect(typing.choices).to.deep.equal([]);
      await harness.settled();
      expect(harness.logged.map((entry) => entry.message)).to.include('suggestions could not be made');
    });

    it('are none for those who may not use the command', async () => {
      await register({
        access: { tier: 'mod' },
        options: { die: option.suggested(() => [{ name: 'secret', value: 'secret' }]) },
      });
      const typing = await harness.alice.autocomplete(harness.general, 'roll', 'die', '').answered();
      expect(typing.choices).to.deep.equal([]);
    });
  });
});
