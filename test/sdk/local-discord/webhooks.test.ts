import { expect } from 'chai';
import { ChannelType, type Client, Events, WebhookClient } from 'discord.js';
import { type NightCity, next, nightCity, refusal, textChannel } from './support.js';

describe('local Discord: webhooks', () => {
  let city: NightCity;
  let client: Client<true>;
  beforeEach(async () => {
    city = await nightCity();
    client = await city.login();
  });
  afterEach(() => city.close());

  const create = (name = 'Relay') => {
    const channel = textChannel(client, city.general.id);
    if (channel.type !== ChannelType.GuildText) throw new Error('No text channel.');
    return channel.createWebhook({ name });
  };

  it('speak under their own name, or another', async () => {
    const webhook = await create();
    const heard = next(client, Events.MessageCreate);
    const sent = await webhook.send({
      content: 'hello',
      username: 'V',
      files: [{ name: 'a.txt', attachment: Buffer.from('a') }],
    });
    const [message] = await heard;
    expect([message.author.username, message.author.bot, message.webhookId, message.content]).to.deep.equal([
      'V',
      true,
      webhook.id,
      'hello',
    ]);
    expect(sent.attachments.size).to.equal(1);
    expect(city.general.messages.at(-1)?.author.name).to.equal('V');
  });

  it('edit, fetch and delete what they said, by token alone', async () => {
    const { id, token } = await create();
    const webhook = new WebhookClient({ id, token: token ?? '' }, { rest: { api: city.discord.api } });
    const sent = await webhook.send('one');
    await webhook.editMessage(sent.id, 'two');
    expect((await webhook.fetchMessage(sent.id)).content).to.equal('two');
    await webhook.deleteMessage(sent.id);
    expect(city.general.messages).to.be.empty;
    const others = city.alice.say(city.general, 'not yours');
    await refusal(webhook.deleteMessage(others.id), 10008);
  });

  it('speak in threads', async () => {
    const webhook = await create();
    const thread = city.you.startThread(city.general, 'side');
    await webhook.send({ content: 'aside', threadId: thread.id });
    expect(thread.messages.map(({ content }) => content)).to.deep.equal(['aside']);
    await refusal(webhook.send({ content: 'x', threadId: '1' }), 10003);
  });

  it('are listed, edited and deleted', async () => {
    const update = next(client, Events.WebhooksUpdate);
    const webhook = await create();
    expect((await update)[0].id).to.equal(city.general.id);
    await webhook.edit({ name: 'Renamed' });
    const channel = textChannel(client, city.general.id);
    if (channel.type !== ChannelType.GuildText) throw new Error('No text channel.');
    expect((await channel.fetchWebhooks()).map(({ name }) => name)).to.deep.equal(['Renamed']);
    await webhook.delete();
    await refusal(client.fetchWebhook(webhook.id), 10015);
  });

  it('have a picture, and can be looked up in the world', async () => {
    const channel = textChannel(client, city.general.id);
    if (channel.type !== ChannelType.GuildText) throw new Error('No text channel.');
    const { id } = await channel.createWebhook({ name: 'Face', avatar: Buffer.from('GIF89a') });
    expect(city.discord.webhooks.get(id)?.avatar).to.match(/^data:image\//);
    expect((await create()).avatar).to.equal(null);
  });

  it('refuse wrong tokens, unknown ids and bots without ManageWebhooks', async () => {
    const { id } = await create();
    const bad = (webhookId: string) =>
      new WebhookClient({ id: webhookId, token: 'wrong' }, { rest: { api: city.discord.api } }).send('x');
    await refusal(bad(id), 50027);
    await refusal(bad('1'), 10015);
    city.guild.overwrite(city.general, { for: city.app.user, deny: ['ManageWebhooks'] });
    await refusal(create(), 50013);
  });
});
