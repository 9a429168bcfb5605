import { expect } from 'chai';
import { AttachmentBuilder, type Client, EmbedBuilder, Events, type Message, MessageFlags } from 'discord.js';
import { codeOf, handClock, type NightCity, next, nightCity, refusal, textChannel } from './support.js';

describe('local Discord: messages', () => {
  let city: NightCity;
  let client: Client<true>;
  const clock = handClock();
  beforeEach(async () => {
    city = await nightCity({ clock });
    client = await city.login();
  });
  afterEach(() => city.close());

  const channel = () => textChannel(client, city.general.id);

  it('lets a bot answer what a member says', async () => {
    const { alice, discord, general } = city;
    client.on(Events.MessageCreate, (message) => {
      if (message.content === '!ping') void message.reply(`pong, ${message.author}`);
    });

    const question = alice.say(general, '!ping');
    const answer = await discord.expectMessage({ channel: general, content: `pong, ${alice}` });

    expect(answer.replyTo).to.equal(question);
    expect(answer.author).to.equal(city.app.user);
    expect(answer.mentions.users).to.deep.equal([alice]);
  });

  it('sends the author, the member and what a reply refers to', async () => {
    const { alice, guild, general, you } = city;
    guild.rename(alice, 'Al');
    const heard = next(client, Events.MessageCreate);

    const first = alice.say(general, 'first');
    const [message] = await heard;
    const [reply] = await (async () => {
      const second = next(client, Events.MessageCreate);
      you.say(general, 'second', { replyTo: first });
      return second;
    })();

    expect(message.member?.displayName).to.equal('Al');
    expect(message.guild?.name).to.equal('Night City');
    expect(message.createdTimestamp).to.equal(clock.now());
    expect(reply.reference?.messageId).to.equal(first.id);
    expect(reply.mentions.repliedUser?.id).to.equal(alice.id);
    expect((await reply.fetchReference()).content).to.equal('first');
  });

  it('shows edits on both sides', async () => {
    const { alice, general } = city;
    const said = alice.say(general, 'helo');
    await city.discord.settled();
    const edited = next(client, Events.MessageUpdate);

    alice.edit(said, 'hello');
    const [before, after] = await edited;
    expect(before.content).to.equal('helo');
    expect(after.content).to.equal('hello');
    expect(after.editedTimestamp).to.equal(clock.now());

    const own = await channel().send('one');
    await own.edit('two');
    expect(general.messages.at(-1)?.content).to.equal('two');
    expect(general.messages.at(-1)?.revision).to.equal(2);
  });

  it('refuses to edit messages of others', async () => {
    const said = city.alice.say(city.general, 'mine');
    const own = await channel().send('the bot wrote this');
    const fetched = await channel().messages.fetch(said.id);

    await refusal(fetched.edit('yours'), 50005);
    const message = city.general.messagesById.get(own.id);
    expect(message && codeOf(() => city.alice.edit(message, 'x'))).to.equal(50005);
  });

  it('deletes one message, and many at once', async () => {
    const { alice, general } = city;
    const said = ['a', 'b', 'c'].map((text) => alice.say(general, text));
    await city.discord.settled();
    const deleted = next(client, Events.MessageDelete);
    const [first] = said;
    if (first) alice.delete(first);
    expect((await deleted)[0].id).to.equal(first?.id);

    const bulk = next(client, Events.MessageBulkDelete);
    await channel().bulkDelete(said.slice(1).map(({ id }) => id));
    expect([...(await bulk)[0].keys()]).to.have.members(said.slice(1).map(({ id }) => id));
    expect(general.messages).to.be.empty;
    expect(said.every((message) => message.deleted)).to.be.true;
  });

  it('refuses to bulk delete what is older than two weeks', async () => {
    const old = city.alice.say(city.general, 'old');
    const ids = [old.id, city.alice.say(city.general, 'old, too').id];
    clock.advance(15 * 24 * 3_600_000);

    await refusal(channel().bulkDelete(ids), 50034);
    expect(old.deleted).to.be.false;
  });

  it('pages through history before, after and around a message, newest first', async () => {
    const said = Array.from({ length: 10 }, (_, index) => city.alice.say(city.general, String(index)));
    const id = said[5]?.id ?? '';
    const contents = (messages: Iterable<[string, Message<true>]>) =>
      [...messages].map(([, message]) => message.content);

    expect(contents(await channel().messages.fetch({ limit: 3 }))).to.deep.equal(['9', '8', '7']);
    expect(contents(await channel().messages.fetch({ limit: 3, before: id }))).to.deep.equal(['4', '3', '2']);
    expect(contents(await channel().messages.fetch({ limit: 3, after: id }))).to.deep.equal(['8', '7', '6']);
    expect(contents(await channel().messages.fetch({ limit: 3, around: id }))).to.deep.equal(['6', '5', '4']);
  });

  it('serves attachments from its CDN, byte for byte', async () => {
    const { alice, general } = city;
    const sent = await channel().send({
      files: [new AttachmentBuilder(Buffer.from('häagen'), { name: 'my notes.txt', description: 'a note' })],
    });
    const file = sent.attachments.first();

    expect(file?.name).to.equal('my_notes.txt');
    expect(file?.description).to.equal('a note');
    expect(file?.contentType).to.match(/^text\/plain/);
    expect(await (await fetch(file?.url ?? '')).text()).to.equal('häagen');

    const heard = next(client, Events.MessageCreate);
    alice.say(general, '', { files: [{ name: 'cat.png', data: Buffer.from([1, 2, 3]) }] });
    const [message] = await heard;
    expect(message.attachments.first()).to.include({ name: 'cat.png', size: 3, contentType: 'image/png' });
    expect((await fetch(`${city.discord.cdn}/attachments/1/2/none.txt`)).status).to.equal(404);
  });

  it('shows an uploaded picture in the embed that refers to it', async () => {
    const embed = new EmbedBuilder()
      .setTitle('Map')
      .setColor('Red')
      .setImage('attachment://map.png')
      .addFields({ name: 'a', value: 'b' });
    const sent = await channel().send({
      embeds: [embed],
      files: [new AttachmentBuilder(Buffer.from('png'), { name: 'map.png' })],
    });

    expect(sent.embeds[0]?.title).to.equal('Map');
    expect(sent.embeds[0]?.image?.url).to.match(/^http.*\/map\.png\?ex=/);
    expect(sent.attachments.size).to.equal(0);
    expect(city.general.messages.at(-1)?.embeds[0]?.fields).to.deep.equal([{ name: 'a', value: 'b' }]);
  });

  it('suppresses embeds by flag', async () => {
    const sent = await channel().send({ content: 'x', flags: [MessageFlags.SuppressEmbeds] });
    expect(sent.flags.has(MessageFlags.SuppressEmbeds)).to.be.true;
    await sent.suppressEmbeds(false);
    expect(city.general.messages.at(-1)?.flags).to.equal(0);
  });

  it('sends a message once when an enforced nonce is repeated', async () => {
    const first = await channel().send({ content: 'once', nonce: 'n1', enforceNonce: true });
    const second = await channel().send({ content: 'once', nonce: 'n1', enforceNonce: true });

    expect(second.id).to.equal(first.id);
    expect(city.general.messages).to.have.lengthOf(1);
    expect(second.nonce).to.equal('n1');
    channel().messages.cache.clear();
    const [again] = (await channel().messages.fetch({ limit: 1, cache: false })).values();
    expect(again?.nonce).to.equal(null);
  });

  it('holds people, but not bots, to slowmode', async () => {
    const slow = city.guild.createChannel({ name: 'slow', slowmodeSeconds: 10 });
    await city.discord.settled();
    city.alice.say(slow, 'one');

    expect(codeOf(() => city.alice.say(slow, 'two'))).to.equal(20016);
    await textChannel(client, slow.id).send('a');
    await textChannel(client, slow.id).send('b');
    clock.advance(10_000);
    city.alice.say(slow, 'two');
    expect(slow.messages).to.have.lengthOf(4);
  });

  it('shows who is typing, both ways', async () => {
    const typing = next(client, Events.TypingStart);
    city.alice.typing(city.general);
    expect((await typing)[0].user.id).to.equal(city.alice.id);

    const seen: string[] = [];
    city.discord.observe((event) => {
      if (event.type === 'typing') seen.push(event.user.name);
    });
    await channel().sendTyping();
    expect(seen).to.deep.equal(['Cinnabar']);
  });

  it('carries direct messages both ways, and none to who does not want them', async () => {
    const { alice, app, discord, you } = city;
    client.on(Events.MessageCreate, (message) => {
      if (!message.author.bot) void message.reply('in private');
    });
    const dm = alice.openDm(app);
    alice.say(dm, 'psst');
    const answer = await discord.expectMessage({ channel: dm, content: 'in private' });
    expect(answer.channel.isDm).to.be.true;

    you.dmsClosed = true;
    await refusal(client.users.send(you.id, 'hello'), 50007);
  });
});
