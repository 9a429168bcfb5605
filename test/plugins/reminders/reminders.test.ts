import { createTestHost, type TestHost } from '@cinnabar/core/testing';
import { PersonalDataStore, Tools } from '@cinnabar/sdk';
import { expect } from 'chai';
import { useSharedHost } from '../../support/shared-host.js';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;

async function openReminders() {
  return worldOf(await createTestHost({ plugins: ['admin', 'reminders'] }));
}

function worldOf(host: TestHost) {
  const said = () => host.general.messages.at(-1)?.content ?? '';
  const say = async (user: TestHost['alice'], text: string) => {
    user.say(host.general, text);
    await host.settled();
    return said();
  };
  const byDm = (user: TestHost['alice']) => user.openDm(host.application).messages.map(({ content }) => content);
  return { host, said, say, byDm, [Symbol.asyncDispose]: () => host[Symbol.asyncDispose]() };
}

describe('reminders', () => {
  const open = useSharedHost(() => ({ plugins: ['admin', 'reminders'] }));

  it('come once, in the channel or by direct message, and can be listed, changed and cancelled', async () => {
    await using world = worldOf(await open());
    const { host, say, said, byDm } = world;
    const { alice, bob } = host;
    expect(await say(alice, '!remind me in 2h tea @everyone')).to.match(/^Reminder 1 is set: <t:\d+:f>/);
    expect(await say(alice, '!remind dm in 3h a secret')).to.include('direct message');
    await say(alice, '!remind in 4h never');
    expect(await say(alice, '!reminder list')).to.match(/\*\*1\*\*.*tea.*\n\*\*2\*\*.*\n\*\*3\*\*.*never/);
    expect(await say(bob, '!reminder cancel 3')).to.include('You have no reminder 3 here');
    expect(await say(alice, '!reminder cancel 3')).to.equal('Reminder 3 is cancelled.');
    await say(alice, '!reminder edit 1 green tea');
    await say(alice, '!reminder move 1 in 1h');
    await host.advance(HOUR);
    expect(said()).to.match(new RegExp(`^⏰ <@${alice.id}> green tea$`));
    const count = host.general.messages.length;
    await host.advance(4 * HOUR);
    expect(host.general.messages.length).to.equal(count);
    expect(byDm(alice).at(-1)).to.equal(`⏰ <@${alice.id}> a secret`);
    expect(await say(alice, '!reminder list')).to.include('no reminders');
  });

  it('are snoozed by a button of their member alone', async () => {
    await using world = worldOf(await open());
    const { host, say, said } = world;
    await say(host.alice, '!remind in 1h stretch');
    await host.advance(HOUR);
    const message = host.general.messages.at(-1);
    if (message === undefined) throw new Error('nothing came');
    host.bob.click(message, 'In 10 minutes');
    await host.settled();
    await host.advance(11 * MINUTE);
    expect(host.general.messages.at(-1)?.id).to.equal(message.id);
    host.alice.click(message, 'In 10 minutes');
    host.alice.click(message, 'In 1 hour');
    await host.settled();
    expect((await say(host.alice, '!reminder list')).split('\n')).to.have.length(1);
    await host.advance(11 * MINUTE);
    expect(said()).to.equal(`⏰ <@${host.alice.id}> stretch`);
    expect(host.general.messages.at(-1)?.id).to.not.equal(message.id);
  });

  it('repeat, and say so; what fell due while the bot was down comes once, late', async () => {
    const world = await openReminders();
    const { host, say, said } = world;
    try {
      await say(host.alice, '!remind every 2h water');
      await host.advance(2 * HOUR);
      expect(said()).to.include('It repeats; `reminder cancel 1` ends it.');
      await host.stop();
      host.clock.advance(5 * HOUR);
      await using again = await createTestHost({ plugins: ['admin', 'reminders'], world: host, dataDir: host.dataDir });
      await again.advance(1_000);
      const waters = () => again.general.messages.filter(({ content }) => content.startsWith('⏰'));
      expect(waters()).to.have.length(2);
      expect(waters().at(-1)?.content).to.include('Late: it was due');
      await again.advance(HOUR);
      expect(waters()).to.have.length(3);
      expect(waters().at(-1)?.content).to.not.include('Late');
    } finally {
      await host[Symbol.asyncDispose]();
    }
  });

  it('go by direct message, and say so, when their member cannot see the channel any more', async () => {
    await using world = worldOf(await open());
    const { host, say, byDm } = world;
    await say(host.alice, '!remind in 1h tea');
    const count = host.general.messages.length;
    host.guild.overwrite(host.general, { for: host.alice, deny: ['ViewChannel'] });
    await host.advance(HOUR);
    expect(host.general.messages.length).to.equal(count);
    expect(byDm(host.alice).at(-1)).to.match(
      /^⏰ <@\d+> tea\n-# It was for <#\d+>, where one of us cannot write now\.$/,
    );
  });

  it('ask for the time zone once, where it matters', async () => {
    await using world = await openReminders();
    const { host, say } = world;
    expect(await say(host.alice, '!remind in 2h tea')).to.not.include('UTC');
    expect(await say(host.alice, '!remind tomorrow at 9 call Bob')).to.include('I took the time as that of UTC');
    expect(await say(host.alice, '!remind tomorrow at 10 call Eve')).to.not.include('UTC');
    expect(await say(host.alice, '!reminder timezone Mars/Base')).to.include('no such time zone');
    await say(host.alice, '!reminder timezone Asia/Tokyo');
    // The tests' clock is at midnight UTC, which is 9:00 in Tokyo.
    const at = Date.UTC(2026, 0, 1, 3) / 1_000;
    expect(await say(host.alice, '!remind at 12:00 lunch')).to.include(`<t:${at}:f>`);
  });

  it('that were set before the time zone was known move with it, by the menu as by the command', async () => {
    await using world = await openReminders();
    const { host, say } = world;
    // The tests' clock is at midnight UTC, which is 9:00 in Tokyo.
    const times = async (user: TestHost['alice']) =>
      [...(await say(user, '!reminder list')).matchAll(/<t:(\d+):f>/g)].map(([, seconds]) => Number(seconds) / 3600);
    const midnight = Date.UTC(2026, 0, 1) / HOUR;
    await say(host.alice, '!remind at 12:00 lunch');
    await say(host.alice, '!remind in 2h tea');
    expect(await times(host.alice)).to.deep.equal([midnight + 2, midnight + 12]);
    // A duration counts from the time of its message.
    await host.advance(HOUR);
    expect(await say(host.alice, '!reminder timezone Asia/Tokyo')).to.match(
      /^Your time zone is Asia\/Tokyo\. I will remind you <t:/,
    );
    expect(await times(host.alice)).to.deep.equal([midnight + 2, midnight + 3]);
    await say(host.alice, '!reminder timezone UTC');
    expect(await times(host.alice), 'a second choice').to.deep.equal([midnight + 2, midnight + 3]);
    await host.advance(23 * HOUR);
    await say(host.bob, '!remind at 12:00 lunch');
    const question = host.general.messages.at(-1);
    if (question === undefined) throw new Error('nothing was asked');
    await say(host.bob, '!remind every day at 12:00 lunch');
    host.bob.select(question, 'Your time zone', ['Asia/Tokyo']);
    await host.settled();
    expect(question.content).to.equal(
      'Your time zone is Asia/Tokyo. 2 of your reminders come at another time now: `reminder list`.',
    );
    expect(await times(host.bob)).to.deep.equal([midnight + 27, midnight + 27]);
  });

  it('for a role or another channel are set by moderators only, and call no one else', async () => {
    await using world = worldOf(await open());
    const { host, say, said } = world;
    const role = host.guild.createRole({ name: 'Raiders', mentionable: true });
    await host.settled();
    expect(await say(host.alice, `!reminder role <@&${role.id}> in 1h raid`)).to.include('You may not do that');
    await say(host.you, `!reminder role <@&${role.id}> in 1h raid @everyone`);
    await host.advance(HOUR);
    expect(said()).to.equal(`⏰ <@&${role.id}> raid @everyone`);
  });

  it('call no role any more once who set them may not', async () => {
    await using world = worldOf(await open());
    const { host, say, said, byDm } = world;
    const [raiders, helpers] = ['Raiders', 'Helpers'].map((name) => host.guild.createRole({ name, mentionable: true }));
    if (raiders === undefined || helpers === undefined) throw new Error('no roles');
    await host.settled();
    await say(host.you, `!roles mod add <@&${helpers.id}>`);
    host.guild.giveRole(host.bob, helpers);
    await host.settled();
    await say(host.bob, `!reminder role <@&${raiders.id}> every 1h raid`);
    await host.advance(HOUR);
    expect(said()).to.include(`⏰ <@&${raiders.id}> raid`);
    host.guild.takeRole(host.bob, helpers);
    await host.settled();
    await say(host.bob, '!reminder edit 1 spam');
    const count = host.general.messages.length;
    await host.advance(HOUR);
    expect(host.general.messages.length).to.equal(count);
    expect(byDm(host.bob).at(-1)).to.include(`⏰ <@${host.bob.id}> spam`);
  });

  it('do not speak for a member in time-out', async () => {
    await using world = worldOf(await open());
    const { host, say, byDm } = world;
    await say(host.alice, '!remind in 1h spam');
    const member = await host.client.guilds.cache.get(host.guild.id)?.members.fetch(host.alice.id);
    await member?.disableCommunicationUntil(host.clock.now() + 2 * HOUR);
    await host.settled();
    const count = host.general.messages.length;
    await host.advance(HOUR);
    expect(host.general.messages.length).to.equal(count);
    expect(byDm(host.alice).at(-1)).to.include('where one of us cannot write now');
  });

  it('that were delivered take no place of others in the server', async () => {
    await using world = worldOf(await open());
    const { host, say } = world;
    await say(host.you, '!set reminders mostInServer 2');
    for (let n = 0; n < 2; n += 1) {
      await say(host.alice, '!remind in 1m tea');
      await host.advance(2 * MINUTE);
    }
    expect(await say(host.bob, '!remind in 1h tea')).to.include('is set');
  });

  it('are limited for a member, set by tools too, and gone when their member is forgotten', async () => {
    await using world = worldOf(await open());
    const { host, say } = world;
    await say(host.you, '!set reminders mostPerMember 2');
    const actor = { userId: host.alice.id, guildId: host.guild.id, channelId: host.general.id };
    const invoke = (name: string, input: object) =>
      host.resolve(Tools).invoke({ name, arguments: input, actor, origin: 'test' });
    expect(await invoke('set_reminder', { when: 'tomorrow at 9', about: 'the xylophone' })).to.include({
      status: 'done',
    });
    expect(await invoke('set_reminder', { when: 'in 2h', about: 'tea' })).to.include({ status: 'done' });
    expect(await say(host.alice, '!remind in 2h coffee')).to.include('You have 2 reminders already');
    expect(await invoke('edit_reminder', { number: 2, about: 'the glockenspiel' })).to.include({ status: 'done' });
    const store = host.resolve(PersonalDataStore);
    expect(JSON.stringify(await store.export(host.alice.id)))
      .to.include('glockenspiel')
      .and.include('xylophone');
    await store.forget(host.alice.id);
    expect(JSON.stringify(await store.export(host.alice.id))).to.not.include('glockenspiel');
    expect(await say(host.alice, '!reminder list')).to.include('no reminders');
  });
});
