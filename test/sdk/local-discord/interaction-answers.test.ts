import { expect } from 'chai';
import { type ChatInputCommandInteraction, type Client, Events, MessageFlags } from 'discord.js';
import { handClock, type NightCity, next, nightCity, onCommand, refusal, textChannel } from './support.js';

describe('local Discord: answers to interactions', () => {
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

  it('may be seen by the invoker only', async () => {
    onCommand(client, (interaction) => interaction.reply({ content: 'secret', flags: MessageFlags.Ephemeral }));
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
    onCommand(client, async (interaction) => {
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
    onCommand(client, async (interaction) => {
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
    onCommand(client, async (interaction) => {
      const { resource } = await interaction.reply({ content: 'here', withResponse: true });
      replied.push(resource?.message?.content);
    });
    await act().answered();
    await city.discord.settled();
    expect(replied).to.deep.equal(['here']);
  });

  it('fail where there is nothing to say', async () => {
    const failed = onCommand(client, (interaction) => interaction.reply({ content: '' }));
    act();
    expect(await failed).to.have.property('code', 50006);
  });
});
