import { expect } from 'chai';
import { type APIMessage, MessageFlags, MessageReferenceType, MessageType } from 'discord-api-types/v10';
import { type HistoryHarness, openHistory } from './harness.js';

describe('chat history: what a message becomes', () => {
  let room: HistoryHarness;
  beforeEach(async () => {
    room = await openHistory();
  });
  afterEach(() => room[Symbol.asyncDispose]());

  /** Makes Discord list a message of a kind that the local Discord does not support. */
  const convert = async (message: Partial<APIMessage>) => {
    const { host, read } = room;
    const said = host.alice.say(host.general, 'placeholder');
    await host.settled();
    const author = { id: host.alice.id, username: 'alice', global_name: null, discriminator: '0', avatar: null };
    const body = {
      id: said.id,
      channel_id: host.general.id,
      author,
      content: '',
      timestamp: new Date(said.createdAt).toISOString(),
      edited_timestamp: null,
      tts: false,
      mention_everyone: false,
      mentions: [],
      mention_roles: [],
      attachments: [],
      embeds: [],
      components: [],
      pinned: false,
      type: MessageType.Default,
      ...message,
    };
    host.discord.faults.rest.fail(200, { route: '/channels/:channelId/messages', body: [body] });
    return (await read()).messages[0];
  };

  it('keeps who, what and when, and what it answers', async () => {
    const { host, read } = room;
    const first = host.bob.say(host.general, `Hello ${host.alice}`);
    await host.advance(60_000);
    host.guild.rename(host.alice, 'Ally');
    const answer = host.alice.say(host.general, 'Hi', { replyTo: first });
    await host.advance(60_000);
    host.alice.edit(answer, 'Hi!');
    const [, message] = (await read()).messages;
    expect(message).to.deep.equal({
      id: answer.id,
      channelId: host.general.id,
      author: {
        id: host.alice.id,
        speaker: host.alice.id,
        displayName: 'Ally',
        username: 'alice',
        bot: false,
        self: false,
      },
      content: 'Hi!',
      createdAt: answer.createdAt,
      editedAt: answer.createdAt + 60_000,
      replyTo: { messageId: first.id, speaker: host.bob.id },
      attachments: [],
      extras: [],
      reactions: [],
    });
  });

  it('lists attachments with what is known of them', async () => {
    const { host, read } = room;
    host.bob.say(host.general, '', { files: [{ name: 'map.png', data: Buffer.from('abc') }] });
    const [attachment] = (await read()).messages[0]?.attachments ?? [];
    expect(attachment).to.include({ name: 'map.png', contentType: 'image/png', sizeBytes: 3 });
    expect(attachment?.url).to.match(/^http:\/\/127\.0\.0\.1:\d+\/cdn\/attachments\//);
  });

  it('knows the bot itself, and its cards by their controls or by 👍 and 👎', async () => {
    const { host, read } = room;
    await read();
    host.bot.say(host.general, 'plain');
    const asking = host.bot.say(host.general, 'shall I?');
    const other = host.bob.say(host.general, 'not mine');
    for (const message of [asking, other]) for (const sign of ['👍', '👎']) host.bot.react(message, sign);
    const channel = host.client.channels.cache.get(host.general.id);
    if (!channel?.isSendable()) throw new Error('no channel');
    const button = { type: 2, style: 1, label: 'Stop', custom_id: 'stop' } as const;
    await channel.send({ content: 'with a button', components: [{ type: 1, components: [button] }] });
    expect((await read()).messages.map(({ author, card }) => [author.self, card])).to.deep.equal([
      [true, undefined],
      [true, true],
      [false, undefined],
      [true, true],
    ]);
    host.bot.unreact(asking, '👎');
    expect((await read()).messages.find(({ id }) => id === asking.id)?.card).to.equal(undefined);
  });

  it("knows what the bot says under other names for the bot's own, and tool output for tool output", async () => {
    const { host, read } = room;
    await read();
    const channel = host.client.channels.cache.get(host.general.id);
    if (!channel || !('createWebhook' in channel)) throw new Error('no channel');
    const webhook = await channel.createWebhook({ name: 'Relay' });
    await webhook.send({ content: 'one', username: 'Aurora' });
    await webhook.send({ content: 'two', username: 'add', flags: MessageFlags.SuppressNotifications });
    expect((await read()).messages.map(({ author }) => author)).to.deep.equal([
      { id: host.bot.id, speaker: host.bot.id, displayName: 'Aurora', username: 'Cinnabar', bot: true, self: true },
      {
        id: webhook.id,
        speaker: `${webhook.id}/add`,
        displayName: 'add',
        username: 'add',
        bot: true,
        self: false,
        ownWebhook: true,
      },
    ]);
  });

  it("tells the names that another's webhook uses apart", async () => {
    const author = { id: '77', username: 'alice', global_name: null, discriminator: '0000', avatar: null };
    const converted = await convert({ webhook_id: '77', author, content: 'one' });
    expect(converted?.author).to.include({ speaker: '77/alice', self: false, bot: true });
    expect(converted?.author.ownWebhook).to.equal(undefined);
  });

  it('counts an answer to a slash command as said by the bot, and leaves out what only one person saw', async () => {
    const { host, read } = room;
    await read();
    host.alice.slash(host.general, 'speak');
    await host.discord.expectMessage({ author: host.bot, content: 'whispered' });
    const { messages } = await read();
    expect(messages.map(({ content, author }) => [content, author.self])).to.deep.equal([['said aloud', true]]);
  });

  it('has a line for stickers, polls and embeds, which cannot close its bracket', async () => {
    const embed = {
      title: 'News] [joined',
      description: 'Much\nto\nread',
      fields: [{ name: 'Where', value: 'Here' }],
    };
    const poll = {
      question: { text: 'Tea?' },
      answers: [
        { answer_id: 1, poll_media: { text: 'Yes' } },
        { answer_id: 2, poll_media: { text: 'No' } },
      ],
      expiry: null,
      allow_multiselect: false,
      layout_type: 1,
    };
    const message = await convert({
      embeds: [embed],
      poll,
      sticker_items: [{ id: '1', name: 'wave', format_type: 1 }],
    });
    expect(message?.extras).to.deep.equal([
      '[sticker: wave]',
      '[embed: News) (joined | Much to read | Where: Here]',
      '[poll: Tea? (Yes / No)]',
    ]);
  });

  it('has what was forwarded, with its files', async () => {
    const attachment = {
      id: '5',
      filename: 'cat.png',
      size: 9,
      url: 'https://cdn.discordapp.com/cat.png',
      proxy_url: '',
    };
    const message = await convert({
      message_reference: { type: MessageReferenceType.Forward, message_id: '7', channel_id: '8' },
      message_snapshots: [
        {
          message: {
            content: 'from\nelsewhere',
            timestamp: new Date(0).toISOString(),
            edited_timestamp: null,
            mentions: [],
            mention_roles: [],
            attachments: [attachment],
            embeds: [],
            type: MessageType.Default,
          },
        },
      ],
    });
    expect(message).to.deep.include({ extras: ['[forwarded: from elsewhere]'], replyTo: null });
    expect(message?.attachments.map(({ name }) => name)).to.deep.equal(['cat.png']);
  });

  for (const [type, content, text] of [
    [MessageType.UserJoin, '', '[joined the server]'],
    [MessageType.ChannelPinnedMessage, '', '[pinned a message]'],
    [MessageType.GuildBoostTier2, '3', '[boosted the server to level 2]'],
    [MessageType.ThreadCreated, 'a [name]', '[started the thread "a (name)"]'],
    [MessageType.StageStart, 'Talk', '[stage start]'],
  ] as const) {
    it(`describes the event ${MessageType[type]}`, async () => {
      expect(await convert({ type, content })).to.deep.include({ content: '', extras: [text] });
    });
  }
});
