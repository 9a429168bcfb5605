import type { PermissionName } from '@cinnabar/local-discord';
import { deleteOwn, editOwn, isOwnMessage, profileName, repliesToOwn, sendAs } from '@cinnabar/sdk';
import { createManualClock } from '@cinnabar/sdk/testing';
import { expect } from 'chai';
import { type Client, Events } from 'discord.js';
import { type NightCity, next, nightCity, textChannel } from '../local-discord/support.js';

const EXECUTE = { method: 'POST', route: '/webhooks/:webhookId/:token' } as const;

/** A clock on which pauses end at once. */
function hastyClock() {
  const clock = createManualClock();
  const after = (delayMs: number, task: () => void) => {
    const cancel = clock.after(delayMs, task);
    setImmediate(() => clock.advance(delayMs));
    return cancel;
  };
  return { now: clock.now, advance: clock.advance, after };
}

describe('speaking under a name', () => {
  let city: NightCity;
  let client: Client<true>;
  const clock = hastyClock();
  before(async () => {
    city = await nightCity({ clock });
    // The host sends each of these requests once.
    client = await city.login({ rest: { retries: 0 } });
  });
  after(() => city.close());

  let key = 0;
  let earlier: number;
  beforeEach(() => {
    key += 1;
    earlier = city.general.messages.length;
  });
  const aurora = { name: 'Aurora', avatarUrl: 'https://example.org/aurora.png' };
  const channel = () => textChannel(client, city.general.id);
  const say = (content: string, options: Partial<Parameters<typeof sendAs>[3]> = {}, more = {}) =>
    sendAs(channel(), { content, ...more }, `test:${key}`, { clock, profile: aurora, ...options });
  const permit = async (overwrite: { allow?: readonly PermissionName[]; deny?: readonly PermissionName[] }) => {
    const applied = next(client, Events.ChannelUpdate);
    city.guild.overwrite(city.general, { for: city.app.user, ...overwrite });
    await applied;
  };
  const said = () => city.general.messages.slice(earlier).map(({ author, content }) => `${author.name}: ${content}`);

  it('shows the name and the picture, by one webhook a channel, and the bot knows it for its own', async () => {
    const heard = next(client, Events.MessageCreate);
    const sent = await say('hello');
    const [message] = await heard;
    expect(said()).to.deep.equal(['Aurora: hello']);
    expect(city.general.messages.at(-1)?.author.avatar).to.equal('https://example.org/aurora.png');
    await sendAs(channel(), { content: 'and I' }, `test:${key}:b`, { clock, profile: { name: 'Scout' } });
    expect(said()).to.deep.equal(['Aurora: hello', 'Scout: and I']);
    expect(city.discord.webhooks.size).to.equal(1);
    expect([isOwnMessage(sent), isOwnMessage(message)]).to.deep.equal([true, true]);
    const asked = next(client, Events.MessageCreate);
    const [answer] = city.general.messages.slice(-1);
    if (answer !== undefined) city.alice.say(city.general, 'what?', { replyTo: answer });
    expect(repliesToOwn((await asked)[0])).to.equal(true);
  });

  it('is there once when Discord carries it out and fails to say so, also after a restart', async () => {
    city.discord.faults.rest.fail(502, { ...EXECUTE, times: 1, afterEffect: true });
    await say('once');
    expect(said()).to.deep.equal(['Aurora: once']);
    const [first] = city.general.messages.slice(earlier);
    const sentAfter = city.general.messages.at(earlier - 1)?.id;
    await permit({ deny: ['ManageWebhooks'] });
    const again = await say('once', { sentAfter });
    await permit({ allow: ['ManageWebhooks'] });
    expect([again.id, said()]).to.deep.equal([first?.id, ['Aurora: once']]);
  });

  it('is repeated when Discord has failed and it is not there', async () => {
    city.discord.faults.rest.fail(503, { ...EXECUTE, times: 2 });
    await say('at last');
    expect(said()).to.deep.equal(['Aurora: at last']);
  });

  it('is an ordinary message where the bot may not manage webhooks, and where it may not send there is none', async () => {
    await permit({ deny: ['ManageWebhooks'] });
    await say('plain');
    expect(said()).to.deep.equal(['Cinnabar: plain']);
    await permit({ allow: ['ManageWebhooks'], deny: ['SendMessages'] });
    const refused = await sendAs(channel(), { content: 'no' }, 'test:no', { clock, profile: aurora }).catch(
      () => 'refused',
    );
    await permit({ allow: ['ManageWebhooks', 'SendMessages'] });
    expect([refused, said()]).to.deep.equal(['refused', ['Cinnabar: plain']]);
  });

  it('can be changed and deleted, and finds another webhook when an admin has deleted the first', async () => {
    const sent = await say('typo');
    await editOwn(sent, { content: 'fixed' });
    expect(said()).to.deep.equal(['Aurora: fixed']);
    await deleteOwn(sent);
    expect(said()).to.deep.equal([]);
    for (const webhook of (await client.guilds.cache.get(city.guild.id)?.fetchWebhooks())?.values() ?? [])
      await webhook.delete();
    await sendAs(channel(), { content: 'still here' }, `test:${key}:b`, { clock, profile: aurora });
    expect(said()).to.deep.equal(['Aurora: still here']);
  });

  it('mentions whom it answers, and pings no more than the bot could', async () => {
    const question = city.alice.say(city.general, 'who is there?');
    await permit({ deny: ['MentionEveryone'], allow: ['ManageWebhooks'] });
    await say(
      '@everyone look',
      {},
      {
        reply: { messageReference: question.id },
        allowedMentions: { parse: ['everyone', 'users'], repliedUser: true },
      },
    );
    const answer = city.general.messages.at(-1);
    expect(answer?.content).to.equal(`<@${city.alice.id}> @everyone look`);
    expect([answer?.mentions.everyone, answer?.mentions.users.map(({ name }) => name)]).to.deep.equal([
      false,
      ['alice'],
    ]);
  });

  it('never takes the name of a member, a role or Discord, nor one that looks like it', async () => {
    const guild = client.guilds.cache.get(city.guild.id);
    if (guild === undefined) throw new Error('No guild.');
    const made = next(client, Events.GuildRoleCreate);
    city.guild.createRole({ name: 'Fixers' });
    await made;
    const names = [
      'alice',
      'AL1CE',
      'Аlice',
      'Fixers',
      'everyone',
      'Discord Clyde Nova',
      'disdiscordcord',
      'a:b\n`c`',
      '',
    ];
    const given = await Promise.all(names.map((name) => profileName(guild, name, clock)));
    expect(given).to.deep.equal([
      'alice (Cinnabar)',
      'AL1CE (Cinnabar)',
      'Аlice (Cinnabar)',
      'Fixers (Cinnabar)',
      'everyone (Cinnabar)',
      'Nova',
      undefined,
      'a b c',
      undefined,
    ]);
    // Simulates a member that discord.js has evicted from its cache.
    guild.members.cache.delete(city.you.id);
    expect(await profileName(guild, 'you', clock)).to.equal('you (Cinnabar)');
  });

  it('speaks in threads', async () => {
    const started = next(client, Events.ThreadCreate);
    const thread = city.you.startThread(city.general, 'side');
    await started;
    await sendAs(textChannel(client, thread.id), { content: 'aside' }, 'test:thread', { clock, profile: aurora });
    expect(thread.messages.map(({ author, content }) => `${author.name}: ${content}`)).to.deep.equal(['Aurora: aside']);
  });
});
