import { readFile } from 'node:fs/promises';
import { LocalDiscordError, startLocalDiscord } from '@cinnabar/local-discord';
import { expect } from 'chai';
import { Events } from 'discord.js';
import { type NightCity, nightCity, textChannel } from './support.js';

describe('local Discord: watching', () => {
  let city: NightCity;
  beforeEach(async () => {
    city = await nightCity();
  });
  afterEach(() => city.close());

  it('tells observers everything in the order in which it happened', async () => {
    const client = await city.login();
    client.on(Events.MessageCreate, async (message) => {
      if (message.author.bot) return;
      await message.react('👀');
      const answer = await message.reply('one');
      await answer.edit('two');
      await answer.delete();
    });
    const seen: string[] = [];
    const stop = city.discord.observe((event) => seen.push(event.type));
    city.alice.say(city.general, 'go');
    await city.discord.settled();
    expect(seen).to.deep.equal(['messageCreate', 'reactionAdd', 'messageCreate', 'messageEdit', 'messageDelete']);
    stop();
    city.alice.say(city.general, 'unheard');
    await city.discord.settled();
    expect(seen).to.have.lengthOf(5);
  });

  it('settles when all clients have handled everything and their requests are done', async () => {
    const other = city.discord.createApplication({ name: 'Other', owner: city.you });
    city.guild.invite(other);
    const clients = [await city.login(), await city.login({}, other)];
    for (const client of clients) {
      client.on(Events.MessageCreate, async (message) => {
        if (message.author.bot) return;
        for (let index = 0; index < 5; index += 1) await message.reply(String(index));
      });
    }
    city.alice.say(city.general, 'go');
    await city.discord.settled();
    expect(city.general.messages).to.have.lengthOf(11);
  });

  it('settles when a bot has done with files and chains of requests, however often', async () => {
    const client = await city.login();
    let done = 0;
    client.on(Events.MessageCreate, async (message) => {
      if (message.author.bot) return;
      await readFile(new URL(import.meta.url));
      const answer = await message.reply('working');
      await Promise.all([answer.edit('done'), message.react('👍')]);
      await readFile(new URL(import.meta.url));
      await answer.delete();
      done += 1;
    });
    for (let round = 1; round <= 25; round += 1) {
      city.alice.say(city.general, 'go');
      await city.discord.settled();
      expect(done).to.equal(round);
    }
  });

  it('says what keeps it from settling', async () => {
    const client = await city.login();
    city.discord.faults.rest.latencyMs = 600;
    const asked = client.rest.get('/users/@me');
    const error: unknown = await city.discord.settled(300).catch((reason: unknown) => reason);
    expect(String(error)).to.include('Not settled within 300 ms: 1 requests under way.');
    await asked;
  });

  it('expects a message that is there already, each once', async () => {
    const client = await city.login();
    await textChannel(client, city.general.id).send('pong');
    const first = await city.discord.expectMessage({ content: 'pong' });
    const second = city.discord.expectMessage({ content: /^po/ });
    await textChannel(client, city.general.id).send('pong');
    expect(await second).not.to.equal(first);
    expect(await city.discord.expectMessage({ content: 'pong', since: first })).to.equal(await second);
  });

  it('expects edits, too', async () => {
    const client = await city.login();
    const sent = await textChannel(client, city.general.id).send('working…');
    await city.discord.expectMessage({ content: 'working…' });
    const done = city.discord.expectMessage({ channel: city.general, author: city.app, content: 'done' });
    await sent.edit('done');
    expect((await done).id).to.equal(sent.id);
  });

  it('says what it saw when the expected message does not come', async () => {
    city.alice.say(city.general, 'pong');
    const error: unknown = await city.discord
      .expectMessage({ channel: city.general, content: 'pong', timeoutMs: 5 })
      .catch((reason: unknown) => reason);
    expect(error).to.be.an('error');
    expect(String(error))
      .to.include('No message by a bot in #general with pong within 5 ms')
      .and.to.include('#general alice: "pong"');
  });

  it('logs requests with route, body and answer, and can be told not to', async () => {
    const client = await city.login();
    const { requests } = city.discord;
    await textChannel(client, city.general.id).send('hello');
    const [request] = requests.of('POST', '/channels/:channelId/messages');
    expect(request).to.deep.include({ path: `/channels/${city.general.id}/messages`, status: 200 });
    expect(request?.body).to.have.property('content', 'hello');
    requests.reset();
    requests.enabled = false;
    await textChannel(client, city.general.id).send('hello');
    expect(requests.all).to.be.empty;
  });

  it('keeps the newest messages of a channel when told how many', async () => {
    await using discord = await startLocalDiscord({ keepMessages: 3 });
    const you = discord.createUser({ name: 'you' });
    const channel = discord.createGuild({ name: 'g', owner: you }).createChannel({ name: 'c' });
    for (const text of ['1', '2', '3', '4']) you.say(channel, text);
    expect(channel.messages.map(({ content }) => content)).to.deep.equal(['2', '3', '4']);
  });

  it('throws to people what it would answer to bots', () => {
    expect(() => city.alice.say(city.general, '')).to.throw(LocalDiscordError, 'Cannot send an empty message');
  });
});
