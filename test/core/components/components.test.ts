import { CinnabarError, type ComponentDefinition, type ComponentHandle, UserError } from '@cinnabar/sdk';
import { expect } from 'chai';
import {
  ActionRowBuilder,
  ButtonBuilder,
  ButtonStyle,
  ComponentType,
  ModalBuilder,
  TextInputBuilder,
  TextInputStyle,
} from 'discord.js';
import { createHarness, type Harness } from '../commands/support/harness.js';

describe('components', () => {
  let harness: Harness;
  beforeEach(async () => {
    harness = await createHarness();
  });
  afterEach(() => harness[Symbol.asyncDispose]());

  /** Registers a component and posts a button for it. */
  async function button(definition: Partial<ComponentDefinition>, args: readonly string[] = []) {
    const owner = harness.owner('tasks');
    const handle = harness.components.component(owner, { name: 'stop', run: () => undefined, ...definition });
    return { owner, handle, message: await post(handle, args) };
  }
  async function post(handle: ComponentHandle, args: readonly string[]) {
    const channel = harness.client.channels.cache.get(harness.general.id);
    if (channel?.isSendable() !== true) throw new Error('There is no such channel.');
    const stop = new ButtonBuilder()
      .setCustomId(handle.customId(...args))
      .setLabel('Stop')
      .setStyle(ButtonStyle.Danger);
    const sent = await channel.send({
      content: 'Running…',
      components: [{ type: ComponentType.ActionRow, components: [stop] }],
    });
    const message = harness.general.messagesById.get(sent.id);
    if (message === undefined) throw new Error('The message did not arrive.');
    return message;
  }
  const press = async (message: Parameters<Harness['alice']['click']>[0]) => {
    const interaction = harness.alice.click(message, 'Stop');
    await harness.settled();
    return interaction;
  };
  const said = (interaction: { messages: readonly { content: string; ephemeral: boolean }[] }) =>
    interaction.messages.map((message) => (message.ephemeral ? `(only you) ${message.content}` : message.content));

  it('reach their plugin with the arguments they were made with', async () => {
    const seen: (readonly string[])[] = [];
    const args = ['task:1', '100%', '%3A%25', 'ünï', '🎲\n', ''];
    const { message } = await button(
      {
        run: async (interaction, given) => {
          seen.push(given);
          await interaction.reply('stopped');
        },
      },
      args,
    );
    const interaction = await press(message);
    expect(seen).to.deep.equal([args]);
    expect(message.components)
      .to.have.nested.property('[0].components[0].custom_id')
      .that.matches(/^tasks:stop:task%3A1:100%25:/);
    expect(said(interaction)).to.deep.equal(['stopped']);
  });

  it('refuse arguments that do not fit in a custom id', () => {
    const handle = harness.components.component(harness.owner('tasks'), { name: 'stop', run: () => undefined });
    expect(() => handle.customId('x'.repeat(90))).to.throw(CinnabarError, /has 101 characters, and Discord allows 100/);
  });

  it('are answered also when the plugin says nothing', async () => {
    const { message } = await button({});
    expect((await press(message)).acknowledged).to.equal(true);
  });

  it('tell the member alone why they are refused', async () => {
    const { message } = await button({ access: { tier: 'mod' } });
    expect(said(await press(message))).to.deep.equal([
      '(only you) You may not do that: you need to be at least mod here',
    ]);
  });

  it('show what is meant for people, and a reference for the rest', async () => {
    const plain = await button({
      name: 'plain',
      run: () => {
        throw new UserError('That task has ended.');
      },
    });
    const broken = await button({
      name: 'broken',
      run: () => {
        throw new TypeError('oops');
      },
    });
    expect(said(await press(plain.message))).to.deep.equal(['(only you) That task has ended.']);
    expect(harness.logged).to.deep.equal([]);
    expect(said(await press(broken.message)).join()).to.match(/^\(only you\) Something went wrong .*`ref1`/);
    expect(harness.logged.map((entry) => entry.message)).to.deep.equal(['component broken failed']);
  });

  it('say that they are stale when their plugin has gone or is switched off', async () => {
    const { owner, message } = await button({});
    harness.disabled.add('tasks');
    expect(said(await press(message))).to.deep.equal([
      '(only you) This does not work here at the moment: the plugin behind it is switched off in this server.',
    ]);
    harness.disabled.clear();
    await owner.scope.close();
    expect(said(await press(message))).to.deep.equal([
      '(only you) This no longer works: the plugin behind it has been stopped or changed.',
    ]);
  });

  it('leave alone what is not theirs', async () => {
    const seen: boolean[] = [];
    harness.client.on('interactionCreate', (interaction) => {
      seen.push(harness.components.onInteraction(interaction));
      if (interaction.isButton()) void interaction.deferUpdate();
    });
    for (const id of ['a-collector-of-its-own', 'stop', 'Tasks:stop', 'tasks:', 'tasks:a b', ':stop'])
      await press(await post({ customId: () => id }, []));
    expect(seen).to.deep.equal([false, false, false, false, false, false]);
  });

  it('can be modals', async () => {
    const tasks = harness.owner('tasks');
    const modal = harness.components.component(tasks, {
      name: 'why',
      run: async (interaction, [task]) => {
        if (interaction.isModalSubmit()) {
          await interaction.reply(`${task}: ${interaction.fields.getTextInputValue('reason')}`);
        }
      },
    });
    const { message } = await button({
      run: async (interaction) => {
        if (interaction.isModalSubmit()) return;
        const input = new TextInputBuilder().setCustomId('reason').setLabel('Why').setStyle(TextInputStyle.Short);
        await interaction.showModal(
          new ModalBuilder()
            .setCustomId(modal.customId('7'))
            .setTitle('Stop')
            .addComponents(new ActionRowBuilder<TextInputBuilder>().addComponents(input)),
        );
      },
    });
    const submitted = harness.alice.submit(await press(message), { Why: 'too slow' });
    await harness.settled();
    expect(said(submitted)).to.deep.equal(['7: too slow']);
  });

  it('are effects of their plugin, with names of their own', async () => {
    const tasks = harness.owner('tasks');
    const define = (name: string, owner = tasks) => harness.components.component(owner, { name, run: () => undefined });
    define('stop');
    expect(tasks.scope.effects).to.deep.equal(['component stop']);
    expect(() => define('stop')).to.throw(CinnabarError, /component "stop" is already registered/);
    expect(() => define('stop now')).to.throw(CinnabarError, /use letters, digits, `-` and `_`/);
    define('stop', harness.owner('other'));
    await tasks.scope.close();
    define('stop', harness.owner('tasks'));
  });
});
