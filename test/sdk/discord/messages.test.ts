import { expect } from 'chai';
import { Events } from 'discord.js';
import { type NightCity, nightCity } from './support.js';

describe('local Discord: messages', () => {
  let city: NightCity;
  beforeEach(async () => {
    city = await nightCity();
  });
  afterEach(() => city.close());

  it('lets a discord.js bot answer what a member says', async () => {
    const { alice, discord, general, login } = city;
    const client = await login();
    client.on(Events.MessageCreate, (message) => {
      if (message.content === '!ping') void message.reply(`pong, ${message.author}`);
    });

    const question = alice.say(general, '!ping');
    const answer = await discord.expectMessage({ channel: general, content: `pong, ${alice}` });

    expect(answer.replyTo).to.equal(question);
    expect(answer.mentions.users).to.deep.equal([alice]);
  });
});
