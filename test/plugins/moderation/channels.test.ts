import type { LocalChannel } from '@cinnabar/local-discord';
import { expect } from 'chai';
import fc from 'fast-check';
import { type Harness, openHarness, useHarness } from './harness.js';

const DAY_MS = 86_400_000;

describe('moderation: channels', () => {
  const open = useHarness();
  let harness: Harness;
  beforeEach(async () => {
    harness = await open();
  });
  afterEach(() => harness[Symbol.asyncDispose]());

  const maySend = (channel: LocalChannel) => {
    try {
      harness.host.alice.say(channel, 'x');
      return true;
    } catch {
      return false;
    }
  };
  const overwritesOf = (channel: LocalChannel) =>
    Object.fromEntries([...channel.overwrites.values()].map(({ id, allow, deny }) => [id, `${allow} ${deny}`]));

  it('are purged by count and by filters; pinned messages stay unless asked for', async () => {
    const { say, host, mod } = harness;
    const { alice, bob, general } = host;
    const said = [
      alice.say(general, 'one https://spam.example'),
      bob.say(general, 'two'),
      alice.say(general, 'three'),
      bob.say(general, 'four', { files: [{ name: 'a.txt', data: Buffer.from('x') }] }),
    ];
    const [link, two, three, file] = said;
    mod.pin(two as NonNullable<typeof two>);
    const gone = () => said.map(({ deleted }) => deleted);
    expect(await say(mod, '!purge 50 from:@alice --links')).to.equal('✓ 1 message was deleted.');
    expect(gone()).to.deep.equal([true, false, false, false]);
    expect(await say(mod, '!purge 50 --files')).to.equal('✓ 1 message was deleted.');
    expect(await say(mod, '!purge 50 contains:THREE')).to.equal('✓ 1 message was deleted.');
    expect(await say(mod, `!purge 50 from:@bob`)).to.include('There is no such message');
    expect(await say(mod, `!purge 50 from:@bob --pinned`)).to.equal('✓ 1 message was deleted.');
    expect([link, three, file].every((message) => message?.deleted)).to.equal(true);
    expect(gone()).to.deep.equal([true, true, true, true]);
  });

  it('are purged between two messages, by link or id', async () => {
    const { say, host, mod } = harness;
    const said = Array.from({ length: 5 }, (_, n) => host.alice.say(host.general, String(n)));
    const [first, , , , last] = said;
    const link = `https://discord.com/channels/${host.guild.id}/${host.general.id}/${last?.id}`;
    expect(await say(mod, `!purge 50 before:${link} after:${first?.id}`)).to.equal('✓ 3 messages were deleted.');
    expect(said.map(({ deleted }) => deleted)).to.deep.equal([false, true, true, true, false]);
    expect(host.guild.auditLog.at(-1)?.reason).to.equal(`asked by mod (${mod.id})`);
    expect(await say(mod, '!purge 50 before:yesterday')).to.equal('Name the message by its link or its id.');
  });

  it('are purged of messages older than two weeks as well, and asked about above a bound', async function () {
    this.timeout(20_000);
    const { say, host, mod } = harness;
    const old = Array.from({ length: 3 }, (_, n) => host.alice.say(host.general, `old ${n}`));
    host.clock.advance(15 * DAY_MS);
    const young = Array.from({ length: 120 }, (_, n) => host.alice.say(host.general, `young ${n}`));
    expect(await say(mod, '!purge 200')).to.equal('Delete 123 messages of this channel?');
    expect([...old, ...young].some(({ deleted }) => deleted)).to.equal(false);
    const question = host.general.messages.at(-1);
    if (question !== undefined) mod.click(question, 'Delete them');
    await host.settled();
    expect([...old, ...young].every(({ deleted }) => deleted)).to.equal(true);
    expect(question?.content).to.include('✓ 123 messages were deleted.');
  });

  it('are not purged for who may not manage messages, nor by a model for them', async () => {
    const { say, host, call, mod } = harness;
    const said = host.bob.say(host.general, 'hello');
    expect(await say(host.alice, '!purge 5')).to.include('You may not do that');
    expect(await call(host.alice, 'purge_messages', { count: 5 })).to.include('may not be used');
    expect(said.deleted).to.equal(false);
    expect(await call(mod, 'purge_messages', { count: 5, member: 'bob' })).to.equal('✓ 1 message was deleted.');
  });

  it('are locked, and opened exactly as they were', async () => {
    const { say, host, mod } = harness;
    const { guild } = host;
    const cases: [name: string, prepare: (channel: LocalChannel) => void][] = [
      ['plain', () => undefined],
      [
        'opened-to-a-role',
        (channel) => {
          guild.overwrite(channel, { for: guild.everyone, deny: ['SendMessages', 'AttachFiles'] });
          const member = guild.createRole({ name: 'Member' });
          guild.giveRole(host.alice, member);
          guild.overwrite(channel, { for: member, allow: ['SendMessages', 'EmbedLinks'] });
        },
      ],
      [
        'opened-to-a-member',
        (channel) => {
          guild.overwrite(channel, { for: guild.everyone, deny: ['SendMessages'] });
          guild.overwrite(channel, { for: host.alice, allow: ['SendMessages'] });
        },
      ],
      [
        'closed',
        (channel) => guild.overwrite(channel, { for: guild.everyone, allow: ['AddReactions'], deny: ['SendMessages'] }),
      ],
    ];
    for (const [name, prepare] of cases) {
      const channel = guild.createChannel({ name });
      prepare(channel);
      await host.settled();
      const before = [overwritesOf(channel), maySend(channel)];
      expect(await say(mod, `!lock ${channel} raid`)).to.include('is locked');
      expect(maySend(channel), name).to.equal(false);
      expect(await say(mod, `!lock ${channel}`)).to.include('is locked already');
      expect(await say(mod, `!unlock ${channel}`)).to.include('is open again');
      expect([overwritesOf(channel), maySend(channel)], name).to.deep.equal(before);
    }
    expect(await say(mod, '!unlock')).to.include('was not locked by me');
  });

  it('gain no writing moderator by a lock', async () => {
    const { say, host, mod } = harness;
    const { guild } = host;
    const news = guild.createChannel({ name: 'news' });
    guild.overwrite(news, { for: guild.everyone, deny: ['SendMessages'] });
    await host.settled();
    expect(await say(mod, `!lock ${news}`)).to.include('is locked');
    expect(() => mod.say(news, 'x')).to.throw();
  });

  it('keep what was changed beside the lock while it was there', async () => {
    const { say, host, mod } = harness;
    const { guild, general, bob } = host;
    await say(mod, '!lock');
    guild.overwrite(general, { for: bob, deny: ['AttachFiles'] });
    await host.settled();
    expect(await say(mod, '!unlock')).to.include('is open again');
    expect(Object.keys(overwritesOf(general))).to.deep.equal([bob.id]);
  });

  it('get a slow mode, and lose it', async () => {
    const { say, host, mod, call } = harness;
    expect(await say(mod, '!slowmode 10s')).to.include('every 10s');
    expect(host.general.slowmodeSeconds).to.equal(10);
    expect(await say(mod, '!slowmode')).to.include('no slow mode');
    expect(host.general.slowmodeSeconds).to.equal(0);
    expect(await say(mod, '!slowmode 7h')).to.equal('Discord has slow modes of at most six hours.');
    expect(await call(mod, 'set_slowmode', { interval: '5s', channel: '#general' })).to.include('every 5s');
    expect(await call(mod, 'lock_channel', { channel: 'general' })).to.include('is locked');
    expect(await call(mod, 'unlock_channel', {})).to.include('is open again');
  });
});

describe('moderation: the lock of a channel', () => {
  it('undoes itself exactly, whatever the channel granted and denied', async function () {
    this.timeout(20_000);
    await using harness = await openHarness({
      permissions: ['Administrator'],
    });
    const { host, mod, say } = harness;
    const { guild } = host;
    guild.giveRole(mod, guild.createRole({ name: 'Boss', position: 40, permissions: ['Administrator'] }));
    const roles = ['a', 'b', 'c'].map((name) => guild.createRole({ name, position: 5 }));
    guild.createRole({ name: 'staff', position: 6, permissions: ['ManageMessages'] });
    const names = ['SendMessages', 'AddReactions', 'ViewChannel', 'AttachFiles', 'CreatePublicThreads'] as const;
    const overwrite = fc.record({ allow: fc.subarray([...names]), deny: fc.subarray([...names]) });
    let count = 0;
    await fc.assert(
      fc.asyncProperty(fc.array(overwrite, { minLength: 0, maxLength: 4 }), async (overwrites) => {
        count += 1;
        const channel = guild.createChannel({ name: `c${count}` });
        for (const [index, { allow, deny }] of overwrites.entries()) {
          const subject = [guild.everyone, ...roles][index];
          if (subject === undefined) continue;
          guild.overwrite(channel, { for: subject, allow: allow.filter((name) => !deny.includes(name)), deny });
        }
        await host.settled();
        const state = () =>
          [...channel.overwrites.values()].map(({ id, allow, deny }) => `${id} ${allow} ${deny}`).sort();
        const before = state();
        expect(await say(mod, `!lock ${channel}`)).to.include('is locked');
        expect(state()).to.not.deep.equal(before);
        expect(await say(mod, `!unlock ${channel}`)).to.include('is open again');
        expect(state()).to.deep.equal(before);
      }),
      { numRuns: 8 },
    );
  });
});
