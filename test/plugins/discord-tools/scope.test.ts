import { Tools } from '@cinnabar/sdk';
import { expect } from 'chai';
import { CALLS } from './calls.js';
import { type Harness, type Input, letIn, openToolsHarness } from './harness.js';
import { makeThings, type Things } from './things.js';

const AGENT = 'test:aurora';
const REAL_ID = /\d{16,20}/g;

/** Tools that read a whole guild: they succeed, but return only objects in scope. */
const LOOKING_OVER = [
  'discord_search_messages',
  'discord_list_servers',
  'discord_get_server_info',
  'discord_get_forum_channels',
] as const;

/** Indirect ways to objects out of scope, in addition to the plain call in `CALLS`. */
const ROUNDABOUT: Readonly<Record<string, (secret: Things, harness: Harness) => readonly Input[]>> = {
  discord_send: ({ channel, message, thread }, { general }) => [
    { channelId: `<#${channel.id}>`, message: 'hi' },
    { channelId: link(channel), message: 'hi' },
    { channelId: link(channel, message), message: 'hi' },
    { channelId: thread.id, message: 'hi' },
    { channelId: general.id, message: 'hi', replyToMessageId: message.id },
    { channelId: general.id, message: 'hi', replyToMessageId: link(channel, message) },
  ],
  discord_read_messages: ({ channel, thread, post }) => [
    { channelId: link(channel) },
    { channelId: `<#${channel.id}>` },
    { channelId: thread.id },
    { channelId: post.id },
  ],
  discord_read_message: ({ channel, message }, { general }) => [
    { channelId: general.id, messageId: message.id },
    { channelId: general.id, messageId: link(channel, message) },
    { channelId: link(channel), messageId: message.id },
  ],
  discord_search_messages: ({ guildId, channel, thread, forum, word }) => [
    { guildId, channelId: channel.id, content: word },
    { guildId, channelId: thread.id },
    { guildId, channelId: forum.id },
    { guildId, content: word, sortBy: 'relevance' },
    { guildId, sortOrder: 'asc', limit: 100 },
  ],
  discord_edit_message: ({ channel, sent }, { general }) => [
    {
      channelId: general.id,
      messageId: `https://discord.com/channels/${channel.guild?.id}/${channel.id}/${sent}`,
      content: 'x',
    },
    { channelId: general.id, messageId: sent, content: 'x' },
  ],
  discord_delete_message: ({ channel, message }, { general }) => [
    { channelId: general.id, messageId: link(channel, message) },
    { channelId: general.id, messageId: message.id },
  ],
  discord_pin_message: ({ channel, message }, { general }) => [
    { channelId: general.id, messageId: link(channel, message) },
    { channelId: general.id, messageId: message.id },
  ],
  discord_add_reaction: ({ channel, message }, { general }) => [
    { channelId: general.id, messageId: link(channel, message), emoji: '👍' },
    { channelId: general.id, messageId: message.id, emoji: '👍' },
  ],
  discord_get_reaction_users: ({ channel, message }, { general }) => [
    { channelId: general.id, messageId: link(channel, message), emoji: '🔥' },
  ],
  discord_list_threads: ({ channel, forum }) => [{ channelId: link(channel) }, { channelId: forum.id }],
  discord_create_text_channel: ({ guildId }) => [{ guildId, channelName: 'made' }],
  discord_edit_channel: ({ category }, { general }) => [{ channelId: general.id, parentId: category.id }],
  discord_create_thread: ({ channel, message }, { general }) => [
    { channelId: general.id, name: 'made', messageId: message.id },
    { channelId: general.id, name: 'made', messageId: link(channel, message) },
  ],
  discord_send_webhook_message: ({ webhook, thread }) => [{ webhookId: webhook, content: 'hi', threadId: thread.id }],
};

describe('discord-tools: an agent with a grant for #general only', () => {
  let harness: Harness;
  before(async () => {
    harness = await openToolsHarness();
    await letIn(harness, AGENT, [harness.general.id]);
  });
  after(() => harness[Symbol.asyncDispose]());

  const asAgent = (tool: string, input: Input) => harness.call(harness.owner, tool, input, { identity: AGENT });

  it('is asked about every tool', () => {
    const names = harness.host
      .resolve(Tools)
      .list()
      .map(({ name }) => name);
    expect(Object.keys(CALLS)).to.have.members(names);
  });

  it('can use its tools in #general', async () => {
    const { general, bob } = harness;
    const message = bob.say(general, 'good morning');
    for (const [tool, input] of [
      ['discord_send', { channelId: general.id, message: 'hello', replyToMessageId: message.id }],
      ['discord_read_messages', { channelId: general.id }],
      ['discord_add_reaction', { channelId: general.id, messageId: message.id, emoji: '👍' }],
      ['discord_pin_message', { channelId: general.id, messageId: message.id }],
      ['discord_create_thread', { channelId: general.id, name: 'side', messageId: message.id }],
      ['discord_search_messages', { guildId: harness.guild.id, content: 'morning' }],
    ] as const) {
      const { status, text } = await asAgent(tool, input);
      expect(status, `${tool}: ${text}`).to.equal('done');
    }
    expect(
      (await asAgent('discord_search_messages', { guildId: harness.guild.id, content: 'morning' })).text,
    ).to.contain('good morning');
  });

  for (const [tool, { input }] of Object.entries(CALLS)) {
    it(`gets nothing beyond it through ${tool}, nor learns whether there is something`, async () => {
      const secret = await makeThings(harness);
      const before = worldOf(harness);
      const looksOver = LOOKING_OVER.some((name) => name === tool);

      for (const attempt of [input(secret), ...(ROUNDABOUT[tool]?.(secret, harness) ?? [])]) {
        const { status, text } = await asAgent(tool, attempt);
        const named = JSON.stringify(attempt);
        expect(text, named).to.not.contain(secret.word);
        for (const id of idsOf(secret)) if (!named.includes(id)) expect(text, named).to.not.contain(id);
        if (!looksOver) expect(status, `${named}: ${text}`).to.not.equal('done');
        const invented = await asAgent(tool, inventIds(attempt, [secret.guildId, harness.general.id]));
        const answers = [{ status, text }, invented].map((one) => `${one.status}: ${withoutIds(one.text)}`);
        expect(answers[0], named).to.equal(answers[1]);
      }
      expect(worldOf(harness), 'the world').to.deep.equal(before);

      // The same call is valid for the member for whom the agent acts.
      const { status, text } = await harness.call(harness.owner, tool, input(secret));
      expect(status, text).to.equal('done');
    });
  }

  it('moves nothing of its own to where it may not go', async () => {
    const secret = await makeThings(harness);
    const { general, guild } = harness;
    const made = await asAgent('discord_create_webhook', { channelId: general.id, name: 'own hook' });
    const [webhook] = made.text.match(REAL_ID) ?? [];

    const moved = await asAgent('discord_edit_webhook', { webhookId: webhook, channelId: secret.channel.id });
    expect(moved.status).to.equal('failed');
    const threaded = { webhookId: webhook, content: 'hi', threadId: secret.thread.id };
    expect((await asAgent('discord_send_webhook_message', threaded)).status).to.equal('denied');
    const recategorised = await asAgent('discord_edit_channel', {
      channelId: general.id,
      parentId: secret.category.id,
    });
    expect(recategorised.status).to.equal('failed');
    expect(guild.channels.get(general.id)?.parent).to.equal(undefined);
  });

  it('has, with a grant for a category, the channels there, and creates new ones only there', async () => {
    const { guild, general } = harness;
    const things = await makeThings(harness);
    await letIn(harness, AGENT, [things.category.id]);
    for (const channelId of [things.channel.id, things.thread.id, things.post.id]) {
      expect((await asAgent('discord_read_messages', { channelId })).text).to.contain(things.word);
    }
    const seen = await asAgent('discord_get_server_info', { guildId: guild.id });
    expect(seen.text).to.contain(`${things.word}-forum`).and.not.contain(general.id).and.not.contain('members');
    const make = (input: Input) =>
      asAgent('discord_create_text_channel', { guildId: guild.id, channelName: 'new', ...input });
    expect((await make({ categoryId: things.category.id })).status).to.equal('done');
    expect((await make({})).status).to.equal('denied');
  });

  it('has what its user has, with a grant for everything', async () => {
    await letIn(harness, AGENT, 'all');
    const things = await makeThings(harness);
    for (const tool of ['discord_list_roles', 'discord_list_members', 'discord_read_messages', 'discord_assign_role']) {
      const { status, text } = await asAgent(tool, CALLS[tool]?.input(things) ?? {});
      expect(status, text).to.equal('done');
    }
  });

  it('loses it all when its grant is taken back', async () => {
    await letIn(harness, AGENT, []);
    const { status } = await asAgent('discord_read_messages', { channelId: harness.general.id });
    expect(status).to.equal('denied');
    await letIn(harness, AGENT, [harness.general.id]);
  });
});

function link(channel: Things['channel'], message?: Things['message']): string {
  const base = `https://discord.com/channels/${channel.guild?.id}/${channel.id}`;
  return message === undefined ? base : `${base}/${message.id}`;
}

/** Everything outside of #general that a tool could change. */
function worldOf({ guild, general }: Harness): unknown {
  const channels = [...guild.channels.values(), ...guild.threads.values()].filter(
    (channel) => channel !== general && channel.parent !== general,
  );
  return {
    channels: channels.map((channel) => ({
      id: channel.id,
      name: channel.name,
      topic: channel.topic,
      parent: channel.parent?.id,
      tags: channel.availableTags.map(({ name }) => name),
      overwrites: [...channel.overwrites.values()].map(({ id, allow, deny }) => `${id} ${allow} ${deny}`),
      thread: channel.thread && [channel.thread.archived, channel.thread.locked, channel.thread.members.size],
      messages: channel.messages.map(({ id, content, pinned, reactions }) => [
        id,
        content,
        pinned,
        reactions.map(({ emoji, users }) => `${emoji.name} ${users.size}`),
      ]),
    })),
    roles: [...guild.roles.values()].map(
      ({ id, name, permissions, position }) => `${id} ${name} ${permissions} ${position}`,
    ),
    members: [...guild.members.values()].map(({ user, roles, timedOutUntil }) => [user.id, roles.size, timedOutUntil]),
  };
}

function idsOf({ channel, message, thread, forum, post, webhook, category, role, sent }: Things): readonly string[] {
  return [channel, message, thread, forum, post, category, role].map(({ id }) => id).concat(webhook, sent);
}

/** The same call with unknown ids. */
function inventIds(input: Input, kept: readonly string[]): Input {
  const text = JSON.stringify(input).replace(REAL_ID, (id) => (kept.includes(id) ? id : `2${id.slice(1)}`));
  const parsed: unknown = JSON.parse(text);
  return Object.fromEntries(Object.entries(typeof parsed === 'object' && parsed !== null ? parsed : {}));
}

function withoutIds(text: string): string {
  return text.replace(REAL_ID, 'ID');
}
