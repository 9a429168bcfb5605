import { expect } from 'chai';
import type { Client, Message } from 'discord.js';
import { codeOf, handClock, type NightCity, nightCity, refusal, textChannel } from './support.js';

describe('local Discord: what a message may hold', () => {
  let city: NightCity;
  let client: Client<true>;
  const clock = handClock();
  beforeEach(async () => {
    city = await nightCity({ clock });
    client = await city.login();
  });
  afterEach(() => city.close());

  const channel = () => textChannel(client, city.general.id);

  it('refuses more than 2,000 characters with the tree that Discord sends', async () => {
    const error = await refusal(channel().send('x'.repeat(2_001)), 50035);

    expect(error.rawError).to.deep.equal({
      code: 50035,
      message: 'Invalid Form Body',
      errors: { content: { _errors: [{ code: 'BASE_TYPE_MAX_LENGTH', message: 'Must be 2000 or fewer in length.' }] } },
    });
    await channel().send('x'.repeat(2_000));
    expect(codeOf(() => city.alice.say(city.general, 'x'.repeat(2_001)))).to.equal(50035);
  });

  it('refuses empty messages, overlong embeds and unknown replies', async () => {
    await refusal(channel().send('   '), 50006);
    expect(codeOf(() => city.alice.say(city.general, ''))).to.equal(50006);
    const embed = { title: 'x'.repeat(257) };
    const error = await refusal(channel().send({ embeds: [embed] }), 50035);
    expect(error.rawError).to.have.nested.property('errors.embeds.0.title._errors.0.code', 'BASE_TYPE_MAX_LENGTH');
    await refusal(channel().send({ content: 'x', reply: { messageReference: '1' } }), 50035);
    const sent = await channel().send({ content: 'x', reply: { messageReference: '1', failIfNotExists: false } });
    expect(sent.reference).to.equal(null);
  });

  it('pings only those named by the content and allowed_mentions', async () => {
    const { alice, guild, general, you } = city;
    const role = guild.createRole({ name: 'Solos' });
    const text = `${alice} ${you} ${role} @everyone`;
    const mentionsOf = (message: Message) => ({
      users: [...message.mentions.users.keys()],
      roles: [...message.mentions.roles.keys()],
      everyone: message.mentions.everyone,
    });

    expect(mentionsOf(await channel().send(text))).to.deep.equal({
      users: [alice.id, you.id],
      roles: [role.id],
      everyone: true,
    });
    const one = await channel().send({ content: text, allowedMentions: { users: [alice.id] } });
    expect(mentionsOf(one)).to.deep.equal({ users: [alice.id], roles: [], everyone: false });
    const none = await channel().send({ content: text, allowedMentions: { parse: [] } });
    expect(mentionsOf(none)).to.deep.equal({ users: [], roles: [], everyone: false });
    expect(mentionsOf(await channel().send(`\`${alice}\` is code`)).users).to.be.empty;
    await refusal(channel().send({ content: text, allowedMentions: { parse: ['users'], users: [alice.id] } }), 50035);
    guild.overwrite(general, { for: guild.everyone, deny: ['MentionEveryone'] });
    expect(alice.say(general, text).mentions).to.deep.equal({ everyone: false, users: [alice, you], roles: [] });
  });

  it('pings the author of the message that is replied to, unless told otherwise', async () => {
    const said = city.alice.say(city.general, 'hi');
    const message = await channel().messages.fetch(said.id);

    expect((await message.reply('a')).mentions.users.has(city.alice.id)).to.be.true;
    const silent = await message.reply({ content: 'b', allowedMentions: { repliedUser: false } });
    expect(silent.mentions.users.has(city.alice.id)).to.be.false;
  });
});
