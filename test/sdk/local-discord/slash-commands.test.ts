import { expect } from 'chai';
import { ApplicationCommandType, type Client, Events, ApplicationCommandOptionType as Option } from 'discord.js';
import { handClock, type NightCity, next, nightCity, onCommand, onInteraction, textChannel } from './support.js';

describe('local Discord: slash commands and menus', () => {
  let city: NightCity;
  let client: Client<true>;
  const clock = handClock();
  beforeEach(async () => {
    city = await nightCity({ clock });
    client = await city.login();
    await client.application.commands.set([{ name: 'do', description: 'Does it' }]);
  });
  afterEach(() => city.close());

  it('are answered with a message that all see', async () => {
    onCommand(client, (interaction) => interaction.reply(`done by ${interaction.user}`));
    const interaction = await city.alice.slash(city.general, 'do').answered();

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
    expect([read.getRole('rank')?.name, read.getMentionable('whoever')?.toString()]).to.deep.equal(['Solo', `${role}`]);
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
        options: [sub('list'), { type: Option.SubcommandGroup, name: 'gear', description: 'x', options: [sub('add')] }],
      },
    ]);
    const paths: unknown[] = [];
    onCommand(client, async ({ options }) => paths.push([options.getSubcommandGroup(false), options.getSubcommand()]));
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
    onInteraction(client, async (interaction) => {
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
    onInteraction(client, async (interaction) => {
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
    onCommand(client, (interaction) => interaction.reply(`guild: ${interaction.guildId}`));
    const dm = city.alice.openDm(city.app);
    const { response } = await city.alice.slash(dm, 'do').answered();
    expect(response?.content).to.equal('guild: null');
  });
});
