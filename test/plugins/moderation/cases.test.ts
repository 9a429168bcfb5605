import { createTestHost } from '@cinnabar/core/testing';
import { auditReason, Moderation, PersonalDataStore } from '@cinnabar/sdk';
import { expect } from 'chai';
import { makeFolder } from '../../support/folder.js';
import { type Harness, harnessOf, openHarness, useHarness } from './harness.js';

const DAY_MS = 86_400_000;
/** The plain text of a message, without invisible marks. */
const plain = (text = '') => text.replaceAll(/[\u2063\u200B]/g, '').trimEnd();

describe('moderation: cases', () => {
  const open = useHarness();
  let harness: Harness;
  beforeEach(async () => {
    harness = await open();
  });
  afterEach(() => harness[Symbol.asyncDispose]());

  it('are posted in the channel that the server has chosen, and edited there', async () => {
    const { say, host, mod } = harness;
    const modlog = host.guild.createChannel({ name: 'modlog' });
    await host.settled();
    await say(host.you, `!set moderation modlog ${modlog}`);
    await say(mod, '!kick @alice spam');
    const [post] = modlog.messages;
    expect(plain(post?.content).split('\n').slice(1)).to.deep.equal([
      `Member: alice · ${host.alice} (\`${host.alice.id}\`)`,
      `Moderator: ${mod}`,
      'Reason: spam',
    ]);
    expect(await say(mod, '!reason 1 the same link in five channels')).to.equal('✓ Case 1 has a new reason.');
    expect(plain(post?.content)).to.include('Reason: the same link in five channels').and.include('was changed by');
    expect(modlog.messages).to.have.length(1);
    expect(await say(mod, '!case 2')).to.equal('There is no case 2 here. `cases` lists the latest.');
  });

  it('are kept although the channel for them is gone or closed, and the moderator reads why', async () => {
    const { say, host, mod } = harness;
    const modlog = host.guild.createChannel({ name: 'modlog' });
    await host.settled();
    await say(host.you, `!set moderation modlog ${modlog}`);
    host.guild.overwrite(modlog, { for: host.bot, deny: ['SendMessages'] });
    await host.settled();
    expect(await say(mod, '!warn @alice spam')).to.include('I may not post in the channel for cases.');
    host.guild.deleteChannel(modlog);
    await host.settled();
    expect(await say(mod, '!warn @alice spam')).to.include('The channel for cases is gone.');
    expect((await say(mod, '!cases')).split('\n')).to.have.length(3);
  });

  it('with the longest reasons, full of markup, fit into their channel and the message to the member', async () => {
    const { say, told, host, mod } = harness;
    const modlog = host.guild.createChannel({ name: 'modlog' });
    await host.settled();
    await say(host.you, `!set moderation modlog ${modlog}`);
    expect(await say(mod, `!warn @alice ${'*_'.repeat(495)}`)).to.not.match(/could not|may not/);
    expect(told(host.alice).at(-1)).to.include('You were warned');
    expect(await say(mod, `!unwarn 1 ${'~`'.repeat(495)}`)).to.include('taken back');
    expect(plain(modlog.messages[0]?.content)).to.include('Taken back').and.include('Reason: ');
  });

  it('lose nothing when several are written and changed at once', async () => {
    const { host, mod, say, actor } = harness;
    const members = Array.from({ length: 12 }, (_, n) => host.discord.createUser({ name: `member${n}` }));
    for (const member of members) host.guild.join(member);
    await host.settled();
    const acts = members.map(({ id }, n) =>
      host.resolve(Moderation).act({
        guildId: host.guild.id,
        userId: id,
        act: n % 2 === 0 ? 'timeout' : 'warn',
        durationMs: 60_000,
        reason: 'raid',
        actor: actor(mod),
      }),
    );
    expect((await Promise.all(acts)).map(({ state }) => state)).to.deep.equal(members.map(() => 'done'));
    await host.settled();
    const list = await say(mod, '!cases');
    expect(list.split('\n')).to.have.length(13);
    expect(list).to.not.include('under way');
  });

  it('do not name another moderator for what one asked of another plugin, whatever the reason says', async () => {
    const { say, host, mod } = harness;
    const { guild, alice, bob } = host;
    const member = await host.client.guilds.cache.get(guild.id)?.members.fetch(alice.id);
    await member?.kick(auditReason(host.client, harness.actor(mod), `(${bob.id})`));
    await host.settled();
    expect(await say(mod, '!case 1')).to.include(`Moderator: ${mod}`);
  });

  it('record what moderators do in Discord itself, and what other plugins of the bot do, once', async () => {
    const { say, host, mod } = harness;
    const { guild, alice, bob, clock } = host;
    mod.timeout(guild, alice, clock.now() + 60_000, 'shouting');
    mod.timeout(guild, alice, null);
    mod.kick(guild, alice, 'spam');
    mod.ban(guild, bob);
    mod.unban(guild, bob);
    host.discord.faults.gateway.dropSockets();
    await host.settled();
    const list = (await say(mod, '!cases')).split('\n').slice(1);
    expect(list.map((line) => line.split(' · ')[1])).to.deep.equal([
      'End of a ban',
      'Ban',
      'Kick',
      'End of a time-out',
      'Time-out',
    ]);
    expect(await say(mod, '!case 3'))
      .to.include(`Moderator: ${mod} (in Discord)`)
      .and.include('Reason: spam');
    await say(host.you, '!set moderation recordDiscordActs no');
    mod.ban(guild, bob);
    await host.settled();
    expect(await say(mod, '!case 6')).to.include('There is no case 6');
  });

  it('of temporary bans end by themselves, also after a restart, and leave a later ban alone', async () => {
    using folder = makeFolder();
    const first = await openHarness({ dataDir: folder.path });
    const { host, mod } = first;
    const { guild, alice, bob } = host;
    try {
      await first.say(mod, '!tempban @alice 7d spam');
      await first.say(mod, '!tempban @bob 1d spam');
      mod.unban(guild, bob);
      await host.settled();
      mod.ban(guild, bob, { reason: 'for good' });
      await host.stop();
      await using again = harnessOf(
        await createTestHost({ plugins: ['admin', 'moderation'], dataDir: folder.path, world: host }),
      );
      await again.host.advance(7 * DAY_MS - 1_000);
      expect(guild.bans.has(alice.id)).to.equal(true);
      await again.host.advance(2_000);
      expect([guild.bans.has(alice.id), guild.bans.has(bob.id)]).to.deep.equal([false, true]);
      expect(await again.say(mod, '!case 1')).to.match(/Until: .* \(1w\)\nOver since <t:/);
    } finally {
      await first[Symbol.asyncDispose]();
    }
  });

  it('of a temporary ban that is made to stay end, and the ban does not', async () => {
    const { say, host, mod } = harness;
    await say(mod, '!tempban @alice 1d spam');
    expect(await say(mod, '!ban @alice again')).to.equal('✓ **alice** is banned (case 2).');
    await host.advance(2 * DAY_MS);
    expect(host.guild.bans.has(host.alice.id)).to.equal(true);
  });

  it('are exported to the member without the moderator, and lose their words when the member is forgotten', async () => {
    const { say, host, mod } = harness;
    const modlog = host.guild.createChannel({ name: 'modlog' });
    await host.settled();
    await say(host.you, `!set moderation modlog ${modlog}`);
    await say(mod, '!warn @alice xylophone');
    await say(mod, '!warn @bob xylophone');
    const store = host.resolve(PersonalDataStore);
    const exported = JSON.stringify(await store.export(host.alice.id));
    expect(exported).to.include('xylophone').and.not.include(mod.id);
    expect(JSON.stringify(await store.export(mod.id)))
      .to.include('asModerator')
      .and.not.include(host.alice.id);
    expect(plain(modlog.messages[0]?.content)).to.include('xylophone');
    await store.forget(host.alice.id);
    await host.settled();
    expect(plain(modlog.messages[0]?.content)).to.include('none given').and.not.include('xylophone');
    expect(await say(mod, '!case 1'))
      .to.include('none given')
      .and.include(host.alice.id);
    await say(host.you, '!set moderation keepCasesOnForget no');
    await store.forget(host.bob.id);
    await store.forget(mod.id);
    const second = await say(mod, '!case 2');
    expect(second).to.include('(deleted at their wish)').and.include('Moderator: not known');
    expect(await say(mod, '!cases @bob')).to.include('There are no cases about');
  });

  it('of a long record come in pages', async function () {
    this.timeout(20_000);
    const { say, host, mod } = harness;
    for (let n = 0; n < 25; n += 1) mod.timeout(host.guild, host.alice, host.clock.now() + 60_000 + n);
    await host.settled();
    const page = await say(mod, '!cases');
    expect(page.split('\n')).to.have.length(22);
    expect(page).to.include('More with `page:2`.').and.include('**25**');
    expect((await say(mod, '!cases page:2')).split('\n')).to.have.length(6);
  });
});
