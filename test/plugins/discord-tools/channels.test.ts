import { expect } from 'chai';
import { ChannelType, PermissionFlagsBits } from 'discord.js';
import { type Harness, openToolsHarness } from './harness.js';

describe('discord-tools: channels', () => {
  let harness: Harness;
  before(async () => {
    harness = await openToolsHarness();
  });
  after(() => harness[Symbol.asyncDispose]());

  const channelNamed = (name: string) => {
    const found = [...harness.guild.channels.values()].find((channel) => channel.name === name);
    if (found === undefined) throw new Error(`there is no channel ${name}`);
    return found;
  };

  it('creates channels of every kind, in a category', async () => {
    const { mod, guild } = harness;
    const guildId = guild.id;
    await harness.done(mod, 'discord_create_category', { guildId, name: 'Projects' });
    const categoryId = channelNamed('Projects').id;
    await harness.done(mod, 'discord_create_text_channel', {
      guildId,
      channelName: 'plans',
      topic: 'What next',
      categoryId,
    });
    await harness.done(mod, 'discord_create_voice_channel', {
      guildId,
      channelName: 'calls',
      categoryId,
      userLimit: 5,
    });
    await harness.done(mod, 'discord_create_forum_channel', { guildId, name: 'ideas', topic: 'Anything', categoryId });
    expect(channelNamed('plans')).to.include({ type: ChannelType.GuildText, topic: 'What next' });
    expect(channelNamed('calls')).to.include({ type: ChannelType.GuildVoice, userLimit: 5 });
    expect(channelNamed('ideas')).to.include({ type: ChannelType.GuildForum, topic: 'Anything' });
    for (const name of ['plans', 'calls', 'ideas']) expect(channelNamed(name).parent?.id, name).to.equal(categoryId);
  });

  it('changes, moves and deletes them', async () => {
    const { mod, guild } = harness;
    const channel = guild.createChannel({ name: 'old' });
    const category = guild.createChannel({ name: 'Archive', type: 'category' });
    await harness.host.settled();
    const edit = (input: object) => harness.done(mod, 'discord_edit_channel', { channelId: channel.id, ...input });
    await edit({ name: 'new', topic: 'fresh' });
    expect(channel).to.include({ name: 'new', topic: 'fresh' });
    await edit({ parentId: category.id });
    expect(channel.parent).to.equal(category);
    await edit({ parentId: null });
    expect(channel.parent).to.equal(undefined);
    await harness.done(mod, 'discord_edit_category', { categoryId: category.id, name: 'Attic', position: 0 });
    expect(category.name).to.equal('Attic');
    await harness.done(mod, 'discord_delete_channel', { channelId: channel.id, reason: 'done' });
    await harness.done(mod, 'discord_delete_category', { categoryId: category.id });
    expect([channel.deleted, category.deleted]).to.deep.equal([true, true]);
  });

  it('keeps to the kind of channel that a tool is for', async () => {
    const { mod, general, alice } = harness;
    const thread = alice.startThread(general, 'chat', { content: 'hi' });
    await harness.host.settled();
    const refused = (tool: string, input: object) => harness.refused(mod, tool, { ...input });
    expect(await refused('discord_delete_channel', { channelId: thread.id })).to.contain('thread');
    expect(await refused('discord_delete_category', { categoryId: general.id })).to.contain('not a category');
    expect(await refused('discord_get_forum_tags', { forumChannelId: general.id })).to.contain('not a forum');
    expect(await refused('discord_get_forum_post', { threadId: thread.id })).to.contain('not a post');
    expect(await refused('discord_archive_thread', { threadId: general.id })).to.contain('not a thread');
    expect(thread.deleted).to.equal(false);
  });

  it('moves a channel only where the requester manages channels as well', async () => {
    const { mod, modRole, guild } = harness;
    const vault = guild.createChannel({ name: 'Vault', type: 'category' });
    guild.overwrite(vault, { for: modRole, deny: ['ManageChannels'] });
    const channel = guild.createChannel({ name: 'loose' });
    await harness.host.settled();
    await harness.refused(mod, 'discord_edit_channel', { channelId: channel.id, parentId: vault.id });
    expect(channel.parent).to.equal(undefined);
  });

  describe('their permissions', () => {
    it('allow and deny to a role what the requester may do', async () => {
      const { mod, general, guild } = harness;
      const role = guild.createRole({ name: 'Guests', position: 2 });
      await harness.host.settled();
      const on = { channelId: general.id, roleId: role.id };
      await harness.done(mod, 'discord_set_channel_permissions', {
        ...on,
        allow: ['send messages'],
        deny: ['ADD_REACTIONS'],
      });
      expect(general.overwrites.get(role.id)).to.include({
        allow: PermissionFlagsBits.SendMessages,
        deny: PermissionFlagsBits.AddReactions,
      });
      await harness.done(mod, 'discord_set_channel_permissions', { ...on, deny: ['EmbedLinks'] });
      expect(general.overwrites.get(role.id)?.allow).to.equal(PermissionFlagsBits.SendMessages);

      const set = (input: object) => harness.refused(mod, 'discord_set_channel_permissions', { ...on, ...input });
      expect(await set({ allow: ['MentionEveryone'] })).to.contain('MentionEveryone');
      expect(await set({ allow: ['Fly'] })).to.contain('no permission called "Fly"');
      expect(await set({ allow: ['EmbedLinks'], deny: ['EmbedLinks'] })).to.contain('both');
      await harness.done(mod, 'discord_remove_channel_permissions', on);
      expect(general.overwrites.has(role.id)).to.equal(false);
    });

    it('stay as they are for roles that are not below the requester', async () => {
      const { mod, modRole, general, guild } = harness;
      const admins = guild.createRole({ name: 'Admins', position: 30 });
      guild.overwrite(general, { for: admins, allow: ['SendMessages'] });
      await harness.host.settled();
      for (const role of [admins, modRole]) {
        const on = { channelId: general.id, roleId: role.id };
        const said = await harness.refused(mod, 'discord_set_channel_permissions', { ...on, deny: ['SendMessages'] });
        expect(said).to.contain('not below your highest role');
        await harness.refused(mod, 'discord_remove_channel_permissions', on);
      }
      expect(general.overwrites.get(admins.id)?.allow).to.equal(PermissionFlagsBits.SendMessages);
    });
  });
});
