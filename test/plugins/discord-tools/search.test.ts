import type { LocalChannel, LocalMessage } from '@cinnabar/local-discord';
import { expect } from 'chai';
import { type Harness, openToolsHarness } from './harness.js';

describe('discord-tools: searching messages', () => {
  let harness: Harness;
  let lab: LocalChannel;
  let said: Readonly<Record<'plain' | 'link' | 'picture' | 'mention' | 'bot' | 'loud', LocalMessage>>;

  before(async () => {
    harness = await openToolsHarness();
    const { alice, bob, general, guild, host } = harness;
    lab = guild.createChannel({ name: 'lab' });
    said = {
      plain: alice.say(general, 'Deploy on Friday'),
      link: bob.say(lab, 'deploy notes: https://example.com/notes'),
      picture: alice.say(lab, 'deploy picture', {
        files: [{ name: 'a.png', data: Buffer.alloc(10), contentType: 'image/png' }],
      }),
      mention: bob.say(general, `deploy, ${alice}?`),
      bot: host.bot.say(lab, 'deploy finished'),
      loud: alice.say(general, 'deploy deploy deploy'),
    };
    harness.mod.pin(said.plain);
    const thread = bob.startThread(lab, 'aside', { content: 'deploy in a thread' });
    guild.createChannel({ name: 'quiet' });
    await host.settled();
    expect(thread.messages).to.have.length(1);
  });
  after(() => harness[Symbol.asyncDispose]());

  const search = async (input: object) => {
    const text = await harness.done(harness.alice, 'discord_search_messages', { guildId: harness.guild.id, ...input });
    return [...text.matchAll(/^> (.+)$/gm)].map(([, line]) => line);
  };

  it('finds words wherever they were said, the newest first', async () => {
    expect(await search({ content: 'DEPLOY' })).to.deep.equal([
      'deploy in a thread',
      'deploy deploy deploy',
      'deploy finished',
      `deploy, ${harness.alice}?`,
      'deploy picture',
      'deploy notes: https://example.com/notes',
      'Deploy on Friday',
    ]);
  });

  it('finds the oldest first, or the best first', async () => {
    const oldest = await search({ content: 'deploy', sortOrder: 'asc', limit: 2 });
    expect(oldest).to.deep.equal(['Deploy on Friday', 'deploy notes: https://example.com/notes']);
    const best = await search({ content: 'deploy', sortBy: 'relevance', limit: 1 });
    expect(best).to.deep.equal(['deploy deploy deploy']);
  });

  it('finds all words, and quoted ones together', async () => {
    expect(await search({ content: 'friday deploy' })).to.deep.equal(['Deploy on Friday']);
    expect(await search({ content: '"deploy friday"' })).to.deep.equal([]);
    expect(await search({ content: '"on friday"' })).to.deep.equal(['Deploy on Friday']);
  });

  it('filters by author, mention, attachment, pin and kind of author', async () => {
    const { alice, bob, host } = harness;
    expect(await search({ content: 'deploy', authorId: bob.id })).to.have.length(3);
    expect(await search({ mentions: alice.id })).to.deep.equal([`deploy, ${alice}?`]);
    expect(await search({ has: 'image' })).to.deep.equal(['deploy picture']);
    expect(await search({ has: 'link' })).to.deep.equal(['deploy notes: https://example.com/notes']);
    expect(await search({ pinned: true })).to.deep.equal(['Deploy on Friday']);
    expect(await search({ content: 'deploy', authorType: 'bot' })).to.deep.equal(['deploy finished']);
    expect(await search({ authorId: host.bot.id, content: 'nothing of the kind' })).to.deep.equal([]);
  });

  it('looks between two messages, in one channel, and page by page', async () => {
    const between = { content: 'deploy', minId: said.plain.id, maxId: said.mention.id };
    expect(await search(between)).to.deep.equal(['deploy picture', 'deploy notes: https://example.com/notes']);
    expect(await search({ content: 'deploy', channelId: lab.id })).to.have.length(3);
    const page = { content: 'deploy', limit: 2, offset: 2 };
    expect(await search(page)).to.deep.equal(['deploy finished', `deploy, ${harness.alice}?`]);
    const text = await harness.done(harness.alice, 'discord_search_messages', { guildId: harness.guild.id, ...page });
    expect(text).to.contain('There are more: use offset.');
  });

  it('reads no more pages than it needs', async () => {
    const { host } = harness;
    host.discord.requests.reset();
    await search({ content: 'thread', limit: 1 });
    const pages = host.discord.requests.of('GET', '/channels/:channelId/messages');
    expect(pages.length).to.be.at.most(4);
  });

  it('looks through pages of a long channel, and says where it stopped', async () => {
    const { bob, guild, host } = harness;
    const hall = guild.createChannel({ name: 'hall' });
    bob.say(hall, 'a needle');
    for (let number = 0; number < 250; number += 1) bob.say(hall, `hay ${number}`);
    await host.settled();
    expect(await search({ content: 'needle' })).to.deep.equal(['a needle']);

    for (let number = 0; number < 6000; number += 1) bob.say(hall, `straw ${number}`);
    await host.settled();
    const text = await harness.done(harness.alice, 'discord_search_messages', { guildId: guild.id, content: 'needle' });
    expect(text)
      .to.match(/^No messages found\./)
      .and.contain('cut short at 20');
  });
});
