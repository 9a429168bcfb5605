import { createTestHost, type LocalChannel, type LocalUser, type TestHost } from '@cinnabar/core/testing';
import { definePlugin, Moderation, type ModerationRequest, Tools } from '@cinnabar/sdk';
import { expect } from 'chai';
import { answering } from '../admin/harness.js';

/** A stand-in for the moderation plugin that records automod's requests. */
function recorder() {
  const acts: ModerationRequest[] = [];
  const plugin = definePlugin({
    manifest: { id: 'recorder', version: '1.0.0', description: 'Records', intents: ['GuildMembers'] },
    provides: [Moderation],
    setup({ provide }) {
      provide(Moderation, {
        async act(request) {
          acts.push(request);
          return { number: acts.length, act: request.act, state: 'done', at: 0, origin: 'rule' };
        },
        casesOf: async () => [],
      });
    },
  });
  return { acts, plugin };
}

describe('automod', () => {
  let host: TestHost;
  let reports: LocalChannel;
  let say: (user: LocalUser, text: string) => Promise<string>;
  const { acts, plugin } = recorder();
  const own = () => [...host.guild.memberOf(host.bot).roles][0] ?? expect.fail();
  const write = async (user: LocalUser, text: string, channel = host.general) => {
    const message = user.say(channel, text);
    await host.settled();
    return message;
  };
  const lastReport = () => reports.messages.at(-1)?.content;

  before(async () => {
    host = await createTestHost({ plugins: ['admin', 'automod', plugin] });
    say = answering(host);
    reports = host.guild.createChannel({ name: 'reports' });
    await say(host.you, '!plugin enable automod');
  });
  after(() => host[Symbol.asyncDispose]());

  it('does nothing until it is switched on, and says so', async () => {
    expect((await write(host.alice, 'what the heck')).deleted).to.equal(false);
    const status = await say(host.you, '!automod status');
    expect(status)
      .to.include('⚪ Word that is not allowed: off → delete, report')
      .and.include('Exempt: moderators and admins');
    expect(await say(host.alice, '!automod words add heck')).to.include('you need to be at least an admin');
  });

  it('deletes messages with a word, edited ones too, and reports them', async () => {
    expect(await say(host.you, '!automod words add heck, darn*')).to.equal('Added 2 words; 2 are filtered.');
    expect(await say(host.you, '!automod report #reports')).to.equal(`Reports go to <#${reports.id}>.`);
    expect((await write(host.alice, 'what the hеck **!**')).deleted).to.equal(true);
    expect(lastReport()).to.equal(
      `**Word that is not allowed** (\`heck\`): <@${host.alice.id}> in <#${host.general.id}>\n> what the hеck \\*\\*!\\*\\*\nDone: deleted`,
    );
    const harmless = await write(host.alice, 'all is well');
    host.alice.edit(harmless, 'darned');
    await host.settled();
    expect(harmless.deleted).to.equal(true);
    expect((await write(host.you, 'heck, I may say that')).deleted).to.equal(false);
    expect(await say(host.you, '!automod test a darnit')).to.equal('Word that is not allowed: `darn*`');
  });

  it('says in a report nothing of a channel that not all who read the report can read', async () => {
    const { guild, alice, bot } = host;
    const staff = guild.createChannel({ name: 'staff' });
    guild.overwrite(staff, { for: guild.everyone, deny: ['ViewChannel'] });
    for (const one of [alice, bot])
      guild.overwrite(staff, { for: one, allow: ['ViewChannel', 'SendMessages', 'ManageMessages'] });
    await host.settled();
    expect((await write(alice, 'heck, the xylophone', staff)).deleted).to.equal(true);
    expect(lastReport())
      .to.include('is left out')
      .and.not.match(/xylophone|heck/);
  });

  it('reports in the language of the server', async () => {
    await say(host.you, '!language server de');
    await write(host.alice, 'heck');
    expect(lastReport()).to.equal(
      `**Verbotenes Wort** (\`heck\`): <@${host.alice.id}> in <#${host.general.id}>\n> heck\nGetan: gelöscht`,
    );
    await say(host.you, '!language server auto');
  });

  it('leaves exempt roles and channels alone', async () => {
    const trusted = host.guild.createRole({ name: 'Trusted', position: 1 });
    const cellar = host.guild.createChannel({ name: 'cellar' });
    await host.settled();
    await say(host.you, `!automod exempt Trusted #cellar`);
    expect((await write(host.alice, 'heck', cellar)).deleted).to.equal(false);
    host.guild.giveRole(host.bob, trusted);
    expect((await write(host.bob, 'heck')).deleted).to.equal(false);
    await say(host.you, `!automod unexempt Trusted`);
    expect((await write(host.bob, 'heck')).deleted).to.equal(true);
  });

  it('knows invites to this server from others', async () => {
    host.guild.createInvite('ours');
    const elsewhere = host.discord.createGuild({ name: 'Elsewhere', owner: host.bob });
    elsewhere.createChannel({ name: 'lobby' });
    elsewhere.createInvite('theirs');
    expect(await say(host.you, '!automod invites yes')).to.equal('Invite to another server: on → delete, report');
    expect((await write(host.alice, 'https://discord.gg/ours')).deleted).to.equal(false);
    expect((await write(host.alice, 'discord.gg/theirs')).deleted).to.equal(true);
    expect((await write(host.alice, 'discord.gg/nothing')).deleted).to.equal(true);
  });

  it('deletes a flood, and has its author timed out once', async () => {
    await say(host.you, '!automod spam 2');
    acts.length = 0;
    const flood = [];
    for (let index = 0; index < 8; index++) flood.push(host.alice.say(host.general, 'buy my hat'));
    await host.settled();
    expect(flood.filter(({ deleted }) => !deleted).length).to.be.at.most(2);
    expect(acts.map(({ act, userId, durationMs, actor }) => ({ act, userId, durationMs, actor }))).to.deep.equal([
      { act: 'timeout', userId: host.alice.id, durationMs: 600_000, actor: undefined },
    ]);
    await say(host.you, '!automod spam 0');
  });

  it('warns where an admin has chosen that, and says what stands in the way of deleting', async () => {
    expect(await say(host.you, '!automod actions words delete, warn, report')).to.equal(
      'Word that is not allowed: 2 words → delete, warn, report',
    );
    expect(await say(host.you, '!automod actions words explode')).to.include('There is no action `explode`');
    const before = own().permissions;
    host.guild.editRole(own(), { permissions: ['ViewChannel', 'SendMessages', 'ReadMessageHistory'] });
    await host.advance(60_000);
    acts.length = 0;
    await write(host.bob, 'heck');
    expect(acts).to.deep.include({
      guildId: host.guild.id,
      userId: host.bob.id,
      act: 'warn',
      reason: 'AutoMod: Word that is not allowed',
    });
    expect(lastReport()).to.include('Done: not deleted: I lack the permission Manage Messages there, warned');
    expect(await say(host.you, '!automod status')).to.include(
      '⚠️ I cannot delete messages: I lack the permission Manage Messages.',
    );
    host.guild.editRole(own(), { permissions: before });
    await host.settled();
  });

  it('says that its reports are not posted when their channel is deleted', async () => {
    const gone = host.guild.createChannel({ name: 'gone' });
    await say(host.you, '!automod report #gone');
    expect(await say(host.you, '!automod status')).to.include(`Reports: <#${gone.id}>`);
    host.guild.deleteChannel(gone);
    await host.settled();
    expect(await say(host.you, '!automod status'))
      .to.include('Reports: nowhere')
      .and.include('⚠️ Reports go nowhere: their channel is gone, or I cannot write there.');
    await say(host.you, '!automod report #reports');
  });

  it('renames threads and nicknames where that is wanted', async () => {
    await say(host.you, '!set automod names yes');
    host.guild.rename(host.bob, 'heck');
    const thread = host.alice.startThread(host.general, 'darn it');
    await host.settled();
    expect(host.guild.memberOf(host.bob).nick).to.equal(null);
    expect(thread.name).to.equal('Renamed');
  });

  it('is changed in plain language, under the same rules', async () => {
    const call = async (user: LocalUser, name: string, input: object) => {
      const actor = { userId: user.id, guildId: host.guild.id, channelId: host.general.id };
      const outcome = await host.resolve(Tools).invoke({ name, arguments: input, actor, origin: 'test' });
      return outcome.status === 'done'
        ? outcome.text
        : outcome.status === 'failed'
          ? outcome.error.message
          : outcome.status;
    };
    expect(await call(host.you, 'change_word_filter', { add: ['gosh'], remove: ['darn*'] })).to.equal(
      'Removed one word; 1 is filtered.\nAdded one word; 2 are filtered.',
    );
    expect(await call(host.you, 'set_automod_filter', { filter: 'mentions', limit: 3 })).to.equal(
      'Too many mentions: more than 3 → delete, report',
    );
    expect(await call(host.alice, 'change_word_filter', { add: ['x'] })).not.to.include('Added');
  });

  describe('with the AutoMod of Discord', () => {
    it('writes its words and mentions there once the bot may, and says which of both acts', async () => {
      expect(await say(host.you, '!automod status')).to.include(
        'I cannot write rules there: I lack the permission Manage Server.',
      );
      host.guild.editRole(own(), { permissions: own().permissions | 0x20n });
      await host.settled();
      await say(host.you, '!automod words add *frak*');
      const rules = [...host.guild.autoModeration.values()];
      expect(
        rules.map(({ name, trigger_metadata }) => [
          name,
          trigger_metadata.keyword_filter ?? trigger_metadata.mention_total_limit,
        ]),
      ).to.deep.equal([
        ['Cinnabar: words', ['heck', 'gosh', '*frak*']],
        ['Cinnabar: invites', []],
        ['Cinnabar: mentions', 3],
      ]);
      expect(await say(host.you, '!automod status')).to.include(
        'AutoMod of Discord stops before anyone sees them: Word that is not allowed, Invite to another server, Too many mentions.',
      );
    });

    it('leaves moderators alone there, too', async () => {
      const mods = host.guild.createRole({ name: 'Mods', position: 1, permissions: ['KickMembers'] });
      await host.settled();
      await say(host.you, '!automod status');
      expect(
        [...host.guild.autoModeration.values()].every(({ exempt_roles }) => exempt_roles.includes(mods.id)),
      ).to.equal(true);
    });

    it('has Discord let invites to this server pass, new ones too', async () => {
      const allowed = () =>
        [...host.guild.autoModeration.values()].find(({ name }) => name === 'Cinnabar: invites')?.trigger_metadata
          .allow_list;
      expect(allowed()).to.deep.equal(['*discord.gg/ours*', '*discord.com/invite/ours*']);
      host.guild.createInvite('again');
      await host.settled();
      expect(allowed()).to.include('*discord.gg/again*');
    });

    it('does the rest for what Discord has stopped, and never both', async () => {
      await host.advance(60_000);
      acts.length = 0;
      const count = reports.messages.length;
      expect(() => host.alice.say(host.general, 'oh frak it')).to.throw(/blocked by automatic moderation/);
      await host.settled();
      expect(acts.map(({ act }) => act)).to.deep.equal(['warn']);
      expect(reports.messages.slice(count).map(({ content }) => content)).to.deep.equal([
        `**Word that is not allowed** (\`*frak*\`): <@${host.alice.id}> in <#${host.general.id}>\n> oh frak it\nDone: stopped by Discord before anyone saw it, warned`,
      ]);
      expect((await write(host.bob, 'oh fr\u200bak')).deleted).to.equal(true);
      expect(reports.messages).to.have.length(count + 2);
    });

    it('takes its rules back when they are not wanted, and makes one anew that was deleted', async () => {
      const [first] = host.guild.autoModeration.keys();
      host.guild.autoModeration.delete(first ?? '');
      await say(host.you, '!automod words remove gosh');
      expect([...host.guild.autoModeration.values()].map(({ name }) => name)).to.have.members([
        'Cinnabar: words',
        'Cinnabar: invites',
        'Cinnabar: mentions',
      ]);
      await say(host.you, '!set automod discordRules no');
      expect(host.guild.autoModeration.size).to.equal(0);
    });
  });
});

describe('automod without the plugin of moderation', () => {
  it('deletes and reports, and says that it does no more', async () => {
    await using host = await createTestHost({ plugins: ['admin', 'automod'] });
    const say = answering(host);
    const reports = host.guild.createChannel({ name: 'reports' });
    await say(host.you, '!plugin enable automod');
    await say(host.you, '!automod report #reports');
    await say(host.you, '!automod words add heck');
    await say(host.you, '!automod actions words delete, timeout, report');
    expect(await say(host.you, '!automod status')).to.include(
      'No one is warned or timed out: the plugin `moderation` is not running.',
    );
    const message = host.alice.say(host.general, 'heck');
    await host.settled();
    expect(message.deleted).to.equal(true);
    expect(reports.messages.at(-1)?.content).to.include(
      'Done: deleted, neither warned nor timed out: the plugin `moderation` is not running',
    );
  });
});
