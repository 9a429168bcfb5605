import { expect } from 'chai';
import {
  ActionRowBuilder,
  ApplicationCommandType,
  ButtonBuilder,
  ButtonStyle,
  type ChatInputCommandInteraction,
  type Client,
  Events,
  type Interaction,
  MessageFlags,
  ModalBuilder,
  ApplicationCommandOptionType as Option,
  StringSelectMenuBuilder,
  TextInputBuilder,
  TextInputStyle,
  UserSelectMenuBuilder,
} from 'discord.js';
import { handClock, type NightCity, next, nightCity, refusal, textChannel } from './support.js';

describe('local Discord: interactions', () => {
  let city: NightCity;
  let client: Client<true>;
  let clock: ReturnType<typeof handClock>;
  beforeEach(async () => {
    clock = handClock();
    city = await nightCity({ clock });
    client = await city.login();
    await client.application.commands.set([{ name: 'do', description: 'Does it' }]);
  });
  afterEach(() => city.close());

  /** The bot's answer to everything that people do; errors reach the test through `failed`. */
  let failed: Promise<unknown>;
  const onInteraction = (handle: (interaction: Interaction) => Promise<unknown>) => {
    failed = new Promise((resolve) => {
      client.on(Events.InteractionCreate, (interaction) => void handle(interaction).catch(resolve));
    });
  };
  const onCommand = (handle: (interaction: ChatInputCommandInteraction) => Promise<unknown>) =>
    onInteraction(async (interaction) => interaction.isChatInputCommand() && handle(interaction));
  const act = () => city.alice.slash(city.general, 'do');

  describe('slash commands', () => {
    it('are answered with a message that all see', async () => {
      onCommand((interaction) => interaction.reply(`done by ${interaction.user}`));
      const interaction = await act().answered();

      expect(interaction.response?.content).to.equal(`done by ${city.alice}`);
      expect(city.general.messages).to.deep.equal([interaction.response]);
      const seen = await textChannel(client, city.general.id).messages.fetch(interaction.response?.id ?? '');
      expect(seen.interactionMetadata?.user.id).to.equal(city.alice.id);
    });

    it('carry every kind of option, resolved', async () => {
      const { alice, general, guild, you } = city;
      const types = {
        text: Option.String,
        whole: Option.Integer,
        real: Option.Number,
        flag: Option.Boolean,
        who: Option.User,
        where: Option.Channel,
        rank: Option.Role,
        whoever: Option.Mentionable,
        file: Option.Attachment,
      };
      const options = Object.entries(types).map(([name, type]) => ({ name, type, description: 'x' }));
      await client.rest.put(`/applications/${city.app.id}/commands`, {
        body: [{ name: 'all', description: 'x', options }],
      });
      const role = guild.createRole({ name: 'Solo' });
      await city.discord.settled();
      const heard = next(client, Events.InteractionCreate);
      const file = { name: 'a.txt', data: Buffer.from('content') };
      alice.slash(general, 'all', {
        text: 't',
        whole: 3,
        real: 1.5,
        flag: true,
        who: you,
        where: general,
        rank: role,
        whoever: role,
        file,
      });

      const [interaction] = await heard;
      if (!interaction.isChatInputCommand()) throw new Error('It is no slash command.');
      const read = interaction.options;
      expect([
        read.getString('text'),
        read.getInteger('whole'),
        read.getNumber('real'),
        read.getBoolean('flag'),
      ]).to.deep.equal(['t', 3, 1.5, true]);
      expect(read.getUser('who')?.username).to.equal('you');
      expect(read.getMember('who')).to.have.nested.property('user.username', 'you');
      expect(read.getChannel('where')?.name).to.equal('general');
      expect([read.getRole('rank')?.name, read.getMentionable('whoever')?.toString()]).to.deep.equal([
        'Solo',
        `${role}`,
      ]);
      expect(await (await fetch(read.getAttachment('file')?.url ?? '')).text()).to.equal('content');
      expect(interaction.memberPermissions?.has('SendMessages')).to.be.true;
      expect(interaction.appPermissions.has('ManageMessages')).to.be.true;
    });

    it('reach subcommands and groups', async () => {
      const sub = (name: string) => ({ type: Option.Subcommand as const, name, description: 'x' });
      await client.application.commands.set([
        {
          name: 'party',
          description: 'x',
          options: [
            sub('list'),
            { type: Option.SubcommandGroup, name: 'gear', description: 'x', options: [sub('add')] },
          ],
        },
      ]);
      const paths: unknown[] = [];
      onCommand(async ({ options }) => paths.push([options.getSubcommandGroup(false), options.getSubcommand()]));
      city.alice.slash(city.general, 'party list');
      city.alice.slash(city.general, 'party gear add');
      await city.discord.settled();
      expect(paths).to.deep.equal([
        [null, 'list'],
        ['gear', 'add'],
      ]);
      expect(() => city.alice.slash(city.general, 'party')).to.throw('A subcommand is missing: list, gear.');
    });

    it('suggest values while the person types', async () => {
      const text = { type: Option.String as const, name: 'name', description: 'x', autocomplete: true as const };
      await client.application.commands.set([{ name: 'find', description: 'x', options: [text] }]);
      onInteraction(async (interaction) => {
        if (!interaction.isAutocomplete()) return;
        const typed = interaction.options.getFocused();
        await interaction.respond(
          ['Vik', 'Vera'].filter((name) => name.startsWith(typed)).map((name) => ({ name, value: name })),
        );
      });
      const { choices } = await city.alice.autocomplete(city.general, 'find', 'name', 'Vi').answered();
      expect(choices).to.deep.equal([{ name: 'Vik', value: 'Vik' }]);
    });

    it('work from the menus of messages and people', async () => {
      await client.application.commands.set([
        { name: 'Report', type: ApplicationCommandType.Message },
        { name: 'Poke', type: ApplicationCommandType.User },
      ]);
      onInteraction(async (interaction) => {
        if (interaction.isMessageContextMenuCommand())
          await interaction.reply(`reported: ${interaction.targetMessage.content}`);
        if (interaction.isUserContextMenuCommand()) await interaction.reply(`poked ${interaction.targetUser.username}`);
      });
      const said = city.you.say(city.general, 'rude');
      const report = await city.alice.contextMenu('Report', said).answered();
      const poke = await city.alice.contextMenu('Poke', city.you, city.general).answered();
      expect([report.response?.content, poke.response?.content]).to.deep.equal(['reported: rude', 'poked you']);
    });

    it('work in a direct message', async () => {
      onCommand((interaction) => interaction.reply(`guild: ${interaction.guildId}`));
      const dm = city.alice.openDm(city.app);
      const { response } = await city.alice.slash(dm, 'do').answered();
      expect(response?.content).to.equal('guild: null');
    });
  });

  describe('answers', () => {
    it('may be seen by the invoker only', async () => {
      onCommand((interaction) => interaction.reply({ content: 'secret', flags: MessageFlags.Ephemeral }));
      const { response } = await act().answered();

      expect(response?.visibleTo).to.equal(city.alice);
      expect(city.general.messages).to.be.empty;
      expect(city.alice.read(city.general)).to.deep.equal([response]);
      expect(city.you.read(city.general)).to.be.empty;
      await refusal(textChannel(client, city.general.id).messages.fetch(response?.id ?? ''), 10008);
    });

    it('may be deferred, and are then edited in', async () => {
      const seen: string[] = [];
      city.discord.observe((event) => seen.push(event.type));
      let goOn: () => void = () => undefined;
      const thinking = new Promise<void>((resolve) => {
        goOn = resolve;
      });
      onCommand(async (interaction) => {
        await interaction.deferReply();
        await thinking;
        await interaction.editReply('thought');
      });
      const interaction = act();
      await city.discord.settled();
      expect([interaction.deferred, interaction.acknowledged]).to.deep.equal([true, true]);
      clock.advance(14 * 60_000);
      goOn();
      await interaction.answered();

      expect(interaction.response?.content).to.equal('thought');
      expect(seen).to.deep.equal(['interactionCreate', 'interactionDefer', 'messageCreate', 'interactionAnswer']);
    });

    it('go on with follow-ups, edits and deletions for fifteen minutes', async () => {
      let held: ChatInputCommandInteraction | undefined;
      onCommand(async (interaction) => {
        held = interaction;
        await interaction.reply('one');
        await interaction.followUp({ content: 'two', flags: MessageFlags.Ephemeral });
        await interaction.editReply('one, edited');
      });
      const interaction = await act().answered();
      await city.discord.settled();
      expect(interaction.messages.map(({ content }) => content)).to.deep.equal(['one, edited', 'two']);
      expect((await held?.fetchReply())?.content).to.equal('one, edited');
      await held?.deleteReply();
      expect(city.general.messages).to.be.empty;

      clock.advance(15 * 60_000 + 1);
      if (held) await refusal(held.followUp('late'), 50027);
    });

    it('come too late after three seconds', async () => {
      const heard = next(client, Events.InteractionCreate);
      const interaction = act();
      const [received] = await heard;
      clock.advance(3_001);
      expect(interaction.expired).to.be.true;
      if (received.isRepliable()) await refusal(received.reply('late'), 10062);
    });

    it('are given once', async () => {
      const heard = next(client, Events.InteractionCreate);
      act();
      const [received] = await heard;
      if (!received.isRepliable()) throw new Error('It cannot be answered.');
      await received.reply('once');
      const again = client.rest.post(`/interactions/${received.id}/${received.token}/callback`, {
        body: { type: 4, data: { content: 'x' } },
        auth: false,
      });
      await refusal(again, 40060);
    });

    it('return the message when the bot asks for it', async () => {
      const replied: unknown[] = [];
      onCommand(async (interaction) => {
        const { resource } = await interaction.reply({ content: 'here', withResponse: true });
        replied.push(resource?.message?.content);
      });
      await act().answered();
      await city.discord.settled();
      expect(replied).to.deep.equal(['here']);
    });

    it('fail where there is nothing to say', async () => {
      onCommand((interaction) => interaction.reply({ content: '' }));
      act();
      expect(await failed).to.have.property('code', 50006);
    });
  });

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
      onInteraction(async (interaction) => {
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
      onInteraction(async (interaction) => {
        if (interaction.isStringSelectMenu()) chosen.push(interaction.values);
        if (interaction.isUserSelectMenu()) chosen.push(interaction.users.map((user) => user.username));
        if (interaction.isMessageComponent()) await interaction.deferUpdate();
      });
      const [message] = city.general.messages;
      if (!message) throw new Error('It was not sent.');
      await city.alice.select(message, 'Letters', ['a', 'B']).answered();
      await city.alice.select(message, 'people', [city.you]).answered();
      expect(chosen).to.deep.equal([['a', 'b'], ['you']]);
      expect(() => city.alice.select(message, 'Letters', ['z'])).to.throw('"z" is not offered; there are: a, b, c.');
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
      onInteraction(async (interaction) => {
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
      onInteraction(async (interaction) => {
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
