import { expect } from 'chai';
import {
  ActionRowBuilder,
  ButtonBuilder,
  ButtonStyle,
  type Client,
  MessageFlags,
  ModalBuilder,
  StringSelectMenuBuilder,
  TextInputBuilder,
  TextInputStyle,
  UserSelectMenuBuilder,
} from 'discord.js';
import { handClock, type NightCity, nightCity, onInteraction, refusal, textChannel } from './support.js';

describe('local Discord: components and modals', () => {
  let city: NightCity;
  let client: Client<true>;
  const clock = handClock();
  beforeEach(async () => {
    city = await nightCity({ clock });
    client = await city.login();
    await client.application.commands.set([{ name: 'do', description: 'Does it' }]);
  });
  afterEach(() => city.close());

  const act = () => city.alice.slash(city.general, 'do');

  describe('components', () => {
    const button = (id: string, label: string) =>
      new ButtonBuilder().setCustomId(id).setLabel(label).setStyle(ButtonStyle.Primary);
    const sendButtons = async (...buttons: ButtonBuilder[]) => {
      const sent = await textChannel(client, city.general.id).send({
        content: 'Press',
        components: [new ActionRowBuilder<ButtonBuilder>().addComponents(...buttons)],
      });
      const message = city.general.messagesById.get(sent.id);
      if (!message) throw new Error('It was not sent.');
      return message;
    };

    it('are buttons that update their message', async () => {
      onInteraction(
        client,
        async (interaction) =>
          interaction.isButton() && interaction.update({ content: `pressed ${interaction.customId}`, components: [] }),
      );
      const message = await sendButtons(button('stop', 'Stop'));
      const interaction = await city.alice.click(message, 'Stop').answered();

      expect(interaction.response).to.equal(message);
      expect(message.content).to.equal('pressed stop');
      expect(() => city.alice.click(message, 'Stop')).to.throw('No button "Stop" on the message; there are: none.');
    });

    it('are buttons that answer with a message of their own, or later', async () => {
      onInteraction(client, async (interaction) => {
        if (!interaction.isButton()) return;
        if (interaction.customId === 'a')
          await interaction.reply({ content: 'for you', flags: MessageFlags.Ephemeral });
        else {
          await interaction.deferUpdate();
          await interaction.editReply('changed');
        }
      });
      const message = await sendButtons(button('a', 'A'), button('b', 'B'));
      const first = await city.alice.click(message, 'a').answered();
      expect(first.response?.visibleTo).to.equal(city.alice);
      await city.you.click(message, 'B').answered();
      await city.discord.settled();
      expect(message.content).to.equal('changed');
    });

    it('are menus of options and of people', async () => {
      const options = ['a', 'b', 'c'].map((value) => ({ label: value.toUpperCase(), value }));
      await textChannel(client, city.general.id).send({
        content: 'Choose',
        components: [
          new ActionRowBuilder<StringSelectMenuBuilder>().addComponents(
            new StringSelectMenuBuilder()
              .setCustomId('letters')
              .setPlaceholder('Letters')
              .setMaxValues(2)
              .addOptions(options),
          ),
          new ActionRowBuilder<UserSelectMenuBuilder>().addComponents(
            new UserSelectMenuBuilder().setCustomId('people'),
          ),
        ],
      });
      const chosen: unknown[] = [];
      onInteraction(client, async (interaction) => {
        if (interaction.isStringSelectMenu()) chosen.push(interaction.values);
        if (interaction.isUserSelectMenu()) chosen.push(interaction.users.map((user) => user.username));
        if (interaction.isMessageComponent()) await interaction.deferUpdate();
      });
      const [message] = city.general.messages;
      if (!message) throw new Error('It was not sent.');
      await city.alice.select(message, 'Letters', ['a', 'B']).answered();
      await city.alice.select(message, 'people', [city.you]).answered();
      expect(chosen).to.deep.equal([['a', 'b'], ['you']]);
      expect(() => city.alice.select(message, 'Letters', ['z'])).to.throw('"z" is not offered; there are: A, B, C.');
      expect(() => city.alice.select(message, 'Letters', [])).to.throw('Choose from 1 to 2 values.');
    });

    it('are refused when malformed', async () => {
      const error = await refusal(
        client.rest.post(`/channels/${city.general.id}/messages`, {
          body: {
            content: 'x',
            components: [
              {
                type: 1,
                components: [
                  { type: 2, style: 1, label: 'a', custom_id: 'same' },
                  { type: 2, style: 1, label: 'b', custom_id: 'same' },
                ],
              },
            ],
          },
        }),
        50035,
      );
      expect(error.rawError).to.have.nested.property(
        'errors.components.0.components.1.custom_id._errors.0.code',
        'COMPONENT_CUSTOM_ID_DUPLICATED',
      );
    });

    it('on an ephemeral message are for its reader', async () => {
      onInteraction(client, async (interaction) => {
        if (!interaction.isChatInputCommand()) return;
        const row = new ActionRowBuilder<ButtonBuilder>().addComponents(button('x', 'X'));
        await interaction.reply({ content: 'yours', components: [row], flags: MessageFlags.Ephemeral });
      });
      const { response } = await act().answered();
      if (!response) throw new Error('No answer.');
      expect(() => city.you.click(response, 'X')).to.throw('Unknown Message');
      expect(city.alice.click(response, 'X').source).to.include({ kind: 'component', customId: 'x' });
    });
  });

  describe('modals', () => {
    const modal = () =>
      new ModalBuilder()
        .setCustomId('form')
        .setTitle('Tell me')
        .addComponents(
          new ActionRowBuilder<TextInputBuilder>().addComponents(
            new TextInputBuilder().setCustomId('why').setLabel('Why?').setStyle(TextInputStyle.Short).setMaxLength(10),
          ),
        );

    it('are shown, filled in and answered', async () => {
      onInteraction(client, async (interaction) => {
        if (interaction.isChatInputCommand()) await interaction.showModal(modal());
        if (interaction.isModalSubmit())
          await interaction.reply(`because ${interaction.fields.getTextInputValue('why')}`);
      });
      const shown = await act().answered();
      expect(shown.modal?.title).to.equal('Tell me');
      expect(() => city.alice.submit(shown, { what: 'x' })).to.throw('The field "why" is required.');
      expect(() => city.alice.submit(shown, { why: 'x'.repeat(11) })).to.throw('takes 0 to 10 characters');
      expect(() => city.you.submit(shown, { why: 'x' })).to.throw('Only the person');
      const { response } = await city.alice.submit(shown, { 'Why?': 'I can' }).answered();
      expect(response?.content).to.equal('because I can');
    });
  });
});
