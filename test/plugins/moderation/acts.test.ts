import { expect } from 'chai';
import { type Harness, useHarness } from './harness.js';

const DAY_MS = 86_400_000;

describe('moderation: acts on members', () => {
  const open = useHarness();
  let harness: Harness;
  beforeEach(async () => {
    harness = await open();
  });
  afterEach(() => harness[Symbol.asyncDispose]());

  it('warns: a case, a message to the member, and what the server does at so many points', async () => {
    const { say, host, mod, told } = harness;
    await say(host.you, '!set moderation warnActions 3 timeout 1h, 5 ban');
    expect(await say(mod, '!warn @alice spam')).to.equal(
      '✓ **alice** was warned (case 1).\nTheir warnings have 1 point now.',
    );
    expect(told(host.alice).at(-1)).to.equal('You were warned in **Night City**.\nReason: spam\nPoints: 1');
    expect(await say(mod, '!warn @alice 2 more spam')).to.match(
      /^✓ \*\*alice\*\* was warned \(case 2\)\.\nTheir warnings have 3 points now\.\n✓ \*\*alice\*\* is in time-out for 1h, until <t:\d+:f> \(case 3\)\.$/,
    );
    expect(host.guild.memberOf(host.alice).timedOutUntil).to.equal(host.clock.now() + 3_600_000);
    expect(await say(mod, '!case 3'))
      .to.include('Moderator: a rule of this server')
      .and.include('case 2');
    expect(await say(mod, '!unwarn 1 wrong person')).to.equal('✓ The warning (case 1) is taken back.');
    expect(await say(mod, '!warnings @alice')).to.match(/: 2 points\n\*\*2\*\* .*\n\*\*1\*\* .* taken back/);
    // Below five points after the first warning was revoked.
    expect(await say(mod, '!warn @alice 2 again')).to.include('have 4 points now');
    expect(host.guild.bans.size).to.equal(0);
  });

  it('shows members their own warnings, and those of others to moderators alone', async () => {
    const { say, host, mod } = harness;
    await say(mod, '!warn @alice spam');
    expect(await say(host.alice, '!warnings'))
      .to.include('1 point')
      .and.include('spam');
    expect(await say(host.bob, '!warnings @alice')).to.include('You may not do that');
    expect(await say(host.bob, '!cases @alice')).to.include('You may not do that');
  });

  it('lets the points of a warning expire', async () => {
    const { say, host, mod } = harness;
    await say(host.you, '!set moderation warnExpiry 10d');
    await say(mod, '!warn @alice 4 spam');
    host.clock.advance(11 * DAY_MS);
    expect(await say(mod, '!warn @alice spam')).to.include('have 1 point now');
  });

  it('puts in time-out and ends it, with the moderator in Discord’s audit log', async () => {
    const { say, host, mod } = harness;
    expect(await say(mod, '!mute @alice 10m shouting')).to.match(/^✓ \*\*alice\*\* is in time-out for 10m, until/);
    expect(host.guild.auditLog.at(-1)?.reason).to.equal(`[case 1] asked by mod (${mod.id}): shouting`);
    expect(await say(mod, '!untimeout @alice')).to.equal('✓ The time-out of **alice** has ended (case 2).');
    expect(host.guild.memberOf(host.alice).timedOutUntil).to.equal(null);
    expect(await say(mod, '!untimeout @alice')).to.equal('**alice** is not in time-out.');
    expect(await say(mod, '!timeout @alice 29d')).to.equal(
      'Discord has time-outs of at most 28 days. For longer, use `tempban`.',
    );
  });

  it('tells no member of a time-out that Discord refused', async () => {
    const { say, told, host, mod } = harness;
    host.discord.faults.rest.fail(403, {
      route: '/guilds/:guildId/members/:userId',
      method: 'PATCH',
      body: { message: 'Missing Permissions', code: 50013 },
    });
    expect(await say(mod, '!timeout @alice 1h spam')).to.include('That was not done (case 1)');
    expect(told(host.alice)).to.deep.equal([]);
  });

  it('kicks, having told the member before', async () => {
    const { say, host, mod, told } = harness;
    expect(await say(mod, '!kick @alice spam')).to.equal('✓ **alice** was removed from the server (case 1).');
    expect(host.guild.members.has(host.alice.id)).to.equal(false);
    expect(told(host.alice)).to.deep.equal(['You were removed from **Night City**. You can join again.\nReason: spam']);
  });

  it('reports a member who could not be notified, and sends no notices where the server has disabled them', async () => {
    const { say, host, mod, told } = harness;
    host.alice.dmsClosed = true;
    expect(await say(mod, '!warn @alice spam')).to.include('I could not tell them');
    await say(host.you, '!set moderation tellMembers no');
    await say(mod, '!warn @bob spam');
    expect(told(host.bob)).to.deep.equal([]);
  });

  it('bans with the deletion of some days’ messages, also users who are not members, and lifts the ban', async () => {
    const { say, host, mod } = harness;
    const said = host.alice.say(host.general, 'buy now');
    const stranger = host.discord.createUser({ name: 'raider' });
    expect(await say(mod, '!ban @alice 2d spam')).to.equal(
      '`ban` has no end, and 2d would be a word of the reason. For a while: `tempban`. For good: leave it out.',
    );
    expect(await say(mod, '!ban @alice 1 spam')).to.equal('✓ **alice** is banned (case 1).');
    expect([said.deleted, host.guild.bans.has(host.alice.id)]).to.deep.equal([true, true]);
    expect(await say(mod, `!ban ${stranger.id} raid`)).to.equal('✓ **raider** is banned (case 2).');
    expect(host.guild.bans.get(stranger.id)?.reason).to.equal(`[case 2] asked by mod (${mod.id}): raid`);
    expect(await say(mod, `!ban ${stranger.id}`)).to.equal('**raider** is banned already. `unban` lifts it.');
    expect(await say(mod, `!unban ${stranger.id}`)).to.equal('✓ **raider** is not banned any more (case 3).');
    expect(await say(mod, `!unban ${stranger.id}`)).to.equal('**raider** is not banned.');
    expect(await say(mod, '!ban 123456789012345678')).to.match(/^There is no user with that id\./);
  });

  it('softbans: out with their messages, free to come back', async () => {
    const { say, host, mod } = harness;
    const said = host.alice.say(host.general, 'buy now');
    expect(await say(mod, '!softban @alice spam')).to.include('can join again (case 1)');
    expect([said.deleted, host.guild.bans.size, host.guild.members.has(host.alice.id)]).to.deep.equal([true, 0, false]);
  });

  it('respects the ranks of the moderator and of the bot, and never touches the owner, itself or the moderator', async () => {
    const { say, host, mod } = harness;
    const { guild, alice, bob, bot } = host;
    guild.giveRole(alice, guild.createRole({ name: 'Elder', position: 20 }));
    expect(await say(mod, '!kick @alice')).to.equal('**alice** is not below you.');
    guild.giveRole(bob, guild.createRole({ name: 'Above', position: 60 }));
    expect(await say(host.you, '!kick @bob')).to.match(/^\*\*bob\*\* is not below me\. Move my role above theirs/);
    expect(await say(mod, '!ban @you')).to.equal('**you** owns this server.');
    expect(await say(mod, '!timeout @mod 1h')).to.equal('You cannot do that to yourself.');
    expect(await say(mod, `!ban ${bot.id}`)).to.equal('I cannot do that to myself.');
    expect(guild.auditLog).to.deep.equal([]);
    expect(await say(mod, '!cases')).to.equal('There are no cases yet.');
  });

  it('asks for the permission of the act, of the moderator and of the bot, and says what to do', async () => {
    const { say, host, mod } = harness;
    const { guild, alice } = host;
    guild.giveRole(alice, guild.createRole({ name: 'Helper', position: 5, permissions: ['ManageMessages'] }));
    expect(await say(alice, '!ban @bob')).to.include('you lack Ban Members in this channel');
    for (const role of guild.roles.values()) {
      if (role.botId !== undefined) guild.editRole(role, { permissions: ['ViewChannel', 'SendMessages'] });
    }
    await host.settled();
    expect(await say(mod, '!ban @bob')).to.equal(
      'I lack the permission Ban Members. Give it to my role in the settings of the server.',
    );
    expect(await say(mod, '!ban @bob')).to.include('I lack the permission');
  });

  it('wants a reason where the server does', async () => {
    const { say, host, mod } = harness;
    await say(host.you, '!set moderation requireReason yes');
    expect(await say(mod, '!kick @alice')).to.equal('This server wants a reason for that. Put it at the end.');
    expect(host.guild.members.has(host.alice.id)).to.equal(true);
  });

  it('does for a model what the moderator may do, and nothing else', async () => {
    const { host, mod, call } = harness;
    expect(await call(host.bob, 'ban_member', { member: 'alice' })).to.include('you need to be at least a moderator');
    expect(await call(mod, 'ban_member', { member: '@you' })).to.equal('**you** owns this server.');
    expect(await call(mod, 'timeout_member', { member: 'alice', duration: '1h', reason: 'spam' })).to.include(
      '(case 1)',
    );
    expect(await call(mod, 'list_cases', { member: 'alice' })).to.include('**1** · Time-out');
    expect(await call(mod, 'warn_member', { member: 'alice' })).to.include('was warned (case 2)');
    expect(await call(mod, 'remove_warning', { number: 2 })).to.include('taken back');
    expect(await call(mod, 'change_case_reason', { number: 1, reason: 'flooding' })).to.equal(
      '✓ Case 1 has a new reason.',
    );
    expect(await call(mod, 'end_timeout', { member: host.alice.id })).to.include('has ended (case 3)');
    expect(await call(mod, 'softban_member', { member: 'alice' })).to.include('(case 4)');
    expect(await call(mod, 'ban_member_for_a_while', { member: 'bob', duration: '2d' })).to.include('banned for 2d');
    expect(await call(mod, 'unban_user', { member: host.bob.id })).to.include('not banned any more (case 6)');
    expect(await call(mod, 'list_cases', { member: 'carol' })).to.equal('There is no member called **carol** here.');
  });
});
