import { createTestHost, type LocalChannel, type LocalUser, type TestHost } from '@cinnabar/core/testing';
import { definePlugin, Tools } from '@cinnabar/sdk';
import { expect } from 'chai';
import fc from 'fast-check';
import { answering } from '../admin/harness.js';

/** Requests the intent for members of servers, as a plugin or the owner does. */
const watcher = definePlugin({
  manifest: { id: 'watcher', version: '1.0.0', description: 'Watches', intents: ['GuildMembers'] },
  setup: () => undefined,
});

describe('welcome', () => {
  let host: TestHost;
  let hall: LocalChannel;
  let say: (user: LocalUser, text: string) => Promise<string>;
  let people = 0;
  const join = async (name = `guest${++people}`, options = {}) => {
    const user = host.discord.createUser({ name });
    host.guild.join(user, options);
    await host.settled();
    return user;
  };
  const said = () => hall.messages.map(({ content }) => content);

  before(async () => {
    host = await createTestHost({ plugins: ['admin', 'welcome', watcher] });
    say = answering(host);
    hall = host.guild.createChannel({ name: 'hall' });
  });
  after(() => host[Symbol.asyncDispose]());

  it('says nothing until an admin has switched it on and chosen a channel', async () => {
    await say(host.you, '!plugin enable welcome');
    await join();
    expect(said()).to.deep.equal([]);
    expect(await say(host.alice, '!welcome channel #hall')).to.include('you need to be at least an admin');
    expect(await say(host.you, '!welcome channel #hall')).to.equal(`New members are greeted in <#${hall.id}>.`);
  });

  it('greets in no channel of another server', async () => {
    const other = host.discord.createGuild({ name: 'Elsewhere', owner: host.bob });
    const theirs = other.createChannel({ name: 'lobby' });
    // The bot may not have received all of its guilds yet.
    expect(await say(host.you, `!set welcome channel ${theirs.id}`)).to.include(`is <#${theirs.id}>`);
    other.invite(host.application);
    await host.settled();
    await join();
    expect(theirs.messages.map(({ content }) => content)).to.deep.equal([]);
    const refused = await say(host.you, `!set welcome goodbyeChannel <#${theirs.id}>`);
    expect(refused).to.include('this server has no such channel');
    await say(host.you, '!welcome channel #hall');
  });

  it('greets in turn, with names as text, and pings the new member alone', async () => {
    await say(host.you, '!welcome add greeting {name} is here, {member}. We are {count}. @everyone');
    const [first, second] = [await join('**bold** {member} @here'), await join('**bold** {member} @here')];
    const [one = '', other = ''] = said().toSorted((a, b) => Number(a.startsWith('W')) - Number(b.startsWith('W')));
    expect(one).to.match(/^\\\*\\\*bold\\\*\\\* \{member\} \\@here is here, <@\d+>\. We are \d+\. @everyone$/);
    expect(other).to.match(/^Welcome to Night City, <@\d+>!$/);
    expect([one, other].join()).to.include(`<@${first.id}>`).and.include(`<@${second.id}>`);
    const pinged = host.discord.requests.of('POST', '/channels/:channelId/messages').map(({ body }) => body);
    expect(JSON.stringify(pinged.at(-1))).to.include(`"allowed_mentions":{"parse":[],"users":["${second.id}"]`);
  });

  it('says how many more came in a raid, and writes to no more of them', async () => {
    await host.advance(60_000);
    await say(host.you, '!welcome add direct Read the rules of {server}.');
    const before = said().length;
    const raid = [];
    for (let index = 0; index < 12; index++) raid.push(await join());
    expect(said().slice(before)).to.have.length(5);
    await host.advance(60_000);
    expect(said().at(-1)).to.equal('7 more members have joined.');
    const written = raid.map((user) => [...user.dms.values()].flatMap(({ messages }) => messages).length);
    expect(written.reduce((sum, one) => sum + one, 0)).to.equal(5);
    await say(host.you, '!welcome remove direct 1');
  });

  it('waits until a member has accepted the rules, and treats bots by their own texts', async () => {
    const before = said().length;
    const pending = await join('shy', { pending: true });
    const robot = host.discord.createApplication({ name: 'Robot', owner: host.you });
    host.guild.invite(robot);
    await host.settled();
    expect(said()).to.have.length(before);
    host.guild.passScreening(pending);
    await host.settled();
    expect(said()).to.have.length(before + 1);
    await say(host.you, '!welcome add bot The bot {name} was added.');
    host.guild.invite(host.discord.createApplication({ name: 'Second', owner: host.you }));
    await host.settled();
    expect(said().at(-1)).to.equal('The bot Second was added.');
  });

  it('says goodbye', async () => {
    const leaving = await join('leaver');
    expect(await say(host.you, '!welcome goodbye #hall')).to.equal(`In <#${hall.id}> it is said who leaves.`);
    host.guild.remove(leaving);
    await host.settled();
    expect(said().at(-1)).to.equal('leaver has left us.');
  });

  it('has its own texts in the language of the server', async () => {
    await say(host.you, '!language server de');
    const leaving = await join('mate');
    host.guild.remove(leaving);
    await host.settled();
    await say(host.you, '!language server auto');
    expect(said().at(-1)).to.equal('mate hat uns verlassen.');
  });

  it('refuses texts that are too long or have unknown placeholders, shows a preview, and what is wrong', async () => {
    expect(await say(host.you, `!welcome add greeting ${'x'.repeat(1_001)}`)).to.equal(
      'A text has at most 1000 characters; this one has 1001.',
    );
    expect(await say(host.you, '!welcome add greeting Hi {user}')).to.include(
      'there are {member}, {name}, {server}, {count}.',
    );
    expect(await say(host.you, '!welcome preview goodbye')).to.equal('**Goodbye**\n1. you has left us.');
    expect(await say(host.you, '!welcome remove goodbye 1')).to.equal('Goodbye: no text is left, so nothing is said.');
    await say(host.you, `!welcome goodbye ${hall}`);
    expect(await say(host.you, '!welcome show')).to.include(
      `Goodbyes: <#${hall.id}> ⚠️ There is no text for it, so nothing is said: add one with \`welcome add goodbye\`.`,
    );
    host.guild.overwrite(hall, { for: host.guild.everyone, deny: ['SendMessages'] });
    const [own] = host.guild.memberOf(host.bot).roles;
    if (own !== undefined) host.guild.editRole(own, { permissions: ['ViewChannel'] });
    host.guild.overwrite(host.general, { for: host.bot, allow: ['SendMessages'] });
    await host.settled();
    expect(await say(host.you, '!welcome show')).to.include(
      `Greetings: <#${hall.id}> ⚠️ I may not write in that channel.`,
    );
  });

  it('is set up in plain language, under the same rules', async () => {
    const call = async (user: LocalUser, input: object) => {
      const actor = { userId: user.id, guildId: host.guild.id, channelId: host.general.id };
      const outcome = await host
        .resolve(Tools)
        .invoke({ name: 'set_welcome', arguments: input, actor, origin: 'test' });
      return outcome.status === 'done'
        ? outcome.text
        : outcome.status === 'failed'
          ? outcome.error.message
          : outcome.status;
    };
    expect(await call(host.you, { channel: 'general', text: 'Hi {member}' })).to.equal(
      `Greeting in the channel: this is the text.\nNew members are greeted in <#${host.general.id}>.`,
    );
    expect(await call(host.alice, { channel: 'general' })).not.to.include('greeted');
  });

  it('fills placeholders in once: what people are called is never structure', async () => {
    await using other = await createTestHost({ plugins: ['admin', 'welcome', watcher] });
    const preview = async () => {
      other.alice.say(other.general, '!welcome preview greeting');
      await other.settled();
      return other.general.messages.at(-1)?.content ?? '';
    };
    const own = [...other.guild.roles.values()].find(({ botId }) => botId !== undefined);
    if (own !== undefined) other.guild.editRole(own, { permissions: ['ManageGuild', 'ViewChannel', 'SendMessages'] });
    const say = answering(other);
    await say(other.you, '!plugin enable welcome');
    await say(other.you, '!access allow welcome everyone');
    await say(other.you, '!welcome remove greeting 1');
    await say(other.you, '!welcome add greeting {member} {name} {server}');
    const called = fc.array(
      fc.oneof(fc.string({ maxLength: 5 }), fc.constantFrom('{member}', '{count}', '<@2>', '@everyone', '\\', '`')),
      { minLength: 1, maxLength: 3 },
    );
    const names = fc.tuple(called, called).map((parts) => parts.map((some) => some.join('').slice(0, 20)));
    const guild = other.client.guilds.cache.get(other.guild.id);
    await fc.assert(
      fc.asyncProperty(names, async ([name = '', server = '']) => {
        other.guild.rename(other.alice, `${name}{member}`);
        await guild?.edit({ name: `${server}<@2>@everyone` });
        const text = await preview();
        expect(text.match(/(?<!\\)<@/g), text).to.have.length(1);
        expect(text).to.not.match(/(?<!\\)@everyone/);
      }),
      { numRuns: 40 },
    );

    await say(other.you, '!welcome remove greeting 1');
    await say(other.you, `!welcome add greeting ${'{member}'.repeat(125)}`);
    const lobby = other.guild.createChannel({ name: 'lobby' });
    await say(other.you, '!welcome channel #lobby');
    other.guild.join(other.discord.createUser({ name: 'guest' }));
    await other.settled();
    expect(lobby.messages.map(({ content }) => content.length)).to.deep.equal([2_000]);
  });
});
