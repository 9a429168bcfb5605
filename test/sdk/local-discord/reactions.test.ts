import { expect } from 'chai';
import { type Client, Events } from 'discord.js';
import { codeOf, type NightCity, next, nightCity, refusal, textChannel } from './support.js';

describe('local Discord: reactions and pins', () => {
  let city: NightCity;
  let client: Client<true>;
  beforeEach(async () => {
    city = await nightCity();
    client = await city.login();
  });
  afterEach(() => city.close());

  const sendFromBot = async () => {
    const message = await textChannel(client, city.general.id).send('Shall I?');
    const stored = city.general.messagesById.get(message.id);
    if (!stored) throw new Error('The message is not there.');
    return { message, stored };
  };

  it('tells the bot who reacted with what, and who took it back', async () => {
    const { alice } = city;
    const { stored } = await sendFromBot();
    const added = next(client, Events.MessageReactionAdd);
    alice.react(stored, '👍');
    const [reaction, user] = await added;
    expect([reaction.emoji.name, reaction.message.id, user.id]).to.deep.equal(['👍', stored.id, alice.id]);

    const removed = next(client, Events.MessageReactionRemove);
    alice.unreact(stored, '👍');
    expect((await removed)[1].id).to.equal(alice.id);
    expect(stored.reactions).to.be.empty;
  });

  it('lets a moderating bot take away one reaction of another member and leave the rest', async () => {
    const { alice, you } = city;
    const { message, stored } = await sendFromBot();
    await message.react('👍');
    alice.react(stored, '👍');
    you.react(stored, '👎');
    await city.discord.settled();

    const removed = next(client, Events.MessageReactionRemove);
    await message.reactions.resolve('👍')?.users.remove(alice.id);
    expect((await removed)[1].id).to.equal(alice.id);
    expect(stored.reactedBy('👍').map((user) => user.name)).to.deep.equal(['Cinnabar']);
    expect(stored.reactedBy('👎')).to.deep.equal([you]);
  });

  it('lists who reacted, and says which reactions are the own', async () => {
    const { alice, you } = city;
    const { message, stored } = await sendFromBot();
    await message.react('👍');
    for (const user of [alice, you]) user.react(stored, '👍');
    const fetched = await message.fetch(true);

    const reaction = fetched.reactions.resolve('👍');
    expect([reaction?.count, reaction?.me]).to.deep.equal([3, true]);
    const users = await reaction?.users.fetch();
    expect([...(users?.keys() ?? [])]).to.have.members([client.user.id, alice.id, you.id]);
  });

  it('clears all reactions, or all of one emoji', async () => {
    const { alice } = city;
    const { message, stored } = await sendFromBot();
    for (const emoji of ['👍', '👎', '🎉']) alice.react(stored, emoji);
    await city.discord.settled();

    const one = next(client, Events.MessageReactionRemoveEmoji);
    await message.reactions.resolve('🎉')?.remove();
    expect((await one)[0].emoji.name).to.equal('🎉');
    const all = next(client, Events.MessageReactionRemoveAll);
    await message.reactions.removeAll();
    expect((await all)[0].id).to.equal(stored.id);
    expect(stored.reactions).to.be.empty;
  });

  it('knows the emojis of the guild and refuses unknown ones', async () => {
    const emoji = city.guild.addEmoji('cat');
    const { message, stored } = await sendFromBot();
    await message.react(`cat:${emoji.id}`);
    expect(stored.reactedBy('cat')).to.have.lengthOf(1);
    await refusal(message.react('nonsense:1'), 10014);
    expect(codeOf(() => city.alice.react(stored, 'nope'))).to.equal(10014);
  });

  it('stops at 20 different emojis', async () => {
    const { stored, message } = await sendFromBot();
    const emojis = [...'😀😁😂😃😄😅😆😇😈😉😊😋😌😍😎😏😐😑😒😓😔'];
    for (const emoji of emojis.slice(0, 20)) city.alice.react(stored, emoji);
    expect(codeOf(() => city.alice.react(stored, emojis[20] ?? ''))).to.equal(30010);
    await refusal(message.react(emojis[20] ?? ''), 30010);
    await message.react(emojis[0] ?? '');
  });

  it('blocks reactions of whom the author blocked', async () => {
    const said = city.you.say(city.general, 'leave me alone');
    city.you.blocked.add(city.alice.id);
    expect(codeOf(() => city.alice.react(said, '👍'))).to.equal(90001);
  });

  it('pins and unpins by either side, and says so', async () => {
    const { stored, message } = await sendFromBot();
    const update = next(client, Events.ChannelPinsUpdate);
    await message.pin();
    await update;
    expect(stored.pinned).to.be.true;
    expect(city.general.messages.at(-1)?.reference?.messageId).to.equal(stored.id);

    const said = city.you.say(city.general, 'rules');
    city.you.pin(said);
    const pins = await textChannel(client, city.general.id).messages.fetchPins();
    expect(pins.items.map((item) => item.message.content)).to.have.members(['rules', 'Shall I?']);
    await message.unpin();
    expect(stored.pinned).to.be.false;
    expect(codeOf(() => city.alice.pin(stored))).to.equal(50013);
    const old = await client.rest.get(`/channels/${city.general.id}/pins`);
    expect(old).to.be.an('array').with.lengthOf(1);
  });
});
