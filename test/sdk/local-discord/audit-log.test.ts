import type { PermissionName } from '@cinnabar/local-discord';
import { expect } from 'chai';
import { AuditLogEvent, type GuildAuditLogsEntry } from 'discord.js';
import { handClock, type NightCity, nightCity, refusal } from './support.js';

describe('local Discord: the audit log', () => {
  let city: NightCity;
  const clock = handClock();
  beforeEach(async () => {
    city = await nightCity({ clock });
  });
  afterEach(() => city.close());

  const mayRead = (permissions: readonly PermissionName[]) => {
    for (const role of city.guild.roles.values()) {
      if (role.botId === city.app.id) city.guild.editRole(role, { permissions: ['ViewChannel', ...permissions] });
    }
  };

  it('tells bots that may read it who did what to whom, and why', async () => {
    const { guild, alice, you, discord } = city;
    const client = await city.login();
    const heard: string[] = [];
    client.on('guildAuditLogEntryCreate', ({ action, executorId, targetId, reason }: GuildAuditLogsEntry) =>
      heard.push(`${AuditLogEvent[action]} ${targetId === alice.id} ${executorId === you.id} ${reason}`),
    );
    mayRead([]);
    you.timeout(guild, alice, clock.now() + 60_000, 'shouting');
    await discord.settled();
    expect(heard).to.deep.equal([]);
    mayRead(['ViewAuditLog']);
    you.timeout(guild, alice, null);
    you.kick(guild, alice, 'shouting');
    you.ban(guild, alice, { reason: 'more shouting' });
    you.unban(guild, alice);
    await discord.settled();
    expect(heard).to.deep.equal([
      'MemberUpdate true true null',
      'MemberKick true true shouting',
      'MemberBanAdd true true more shouting',
      'MemberBanRemove true true null',
    ]);
  });

  it('is read a page at a time, by kind and by whom, and only with the permission', async () => {
    const { guild, alice, you, general } = city;
    const client = await city.login();
    mayRead([]);
    await refusal(client.rest.get(`/guilds/${guild.id}/audit-logs`), 50013);
    mayRead(['ViewAuditLog']);
    you.timeout(guild, alice, clock.now() + 60_000, 'shouting');
    you.timeout(guild, alice, null);
    you.delete(alice.say(general, 'x'));
    const own = client.guilds.cache.get(guild.id);
    const all = await own?.fetchAuditLogs({ limit: 10 });
    expect(all?.entries.map(({ action }) => AuditLogEvent[action])).to.deep.equal([
      'MessageDelete',
      'MemberUpdate',
      'MemberUpdate',
    ]);
    const first = await own?.fetchAuditLogs({ limit: 1, after: '0', user: you.id, type: AuditLogEvent.MemberUpdate });
    expect(first?.entries.first()?.changes.map(({ key }) => key)).to.deep.equal(['communication_disabled_until']);
    expect(first?.entries.first()?.reason).to.equal('shouting');
  });
});
