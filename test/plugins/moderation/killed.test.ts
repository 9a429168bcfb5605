import { join } from 'node:path';
import { createTestHost } from '@cinnabar/core/testing';
import type { LocalChannel, LocalEvent } from '@cinnabar/local-discord';
import { expect } from 'chai';
import { copyData } from '../../support/data.js';
import { makeFolder } from '../../support/folder.js';
import { type Harness, harnessOf, openHarness } from './harness.js';

/** The state after a kill: the stored data of a moment, and a local Discord without the first process. */
async function killedAt(
  moment: (event: LocalEvent, harness: Harness) => boolean,
  act: (harness: Harness) => Promise<unknown>,
  check: (after: Harness, modlog: LocalChannel) => Promise<void>,
): Promise<void> {
  using folder = makeFolder();
  const [data, copy] = [join(folder.path, 'data'), join(folder.path, 'copy')];
  await using first = await openHarness({ dataDir: data });
  const { host } = first;
  const modlog = host.guild.createChannel({ name: 'modlog' });
  await host.settled();
  await first.say(host.you, `!set moderation modlog ${modlog}`);
  let taken = 0;
  host.discord.observe((event) => {
    if (taken > 0 || !moment(event, first)) return;
    taken += 1;
    copyData(data, copy);
  });
  await act(first);
  expect(taken, 'the moment came').to.equal(1);
  await host.stop();
  host.discord.faults.clear();
  await using second = harnessOf(
    await createTestHost({ plugins: ['admin', 'moderation'], dataDir: copy, world: host }),
  );
  await second.host.settled();
  await check(second, modlog);
}

describe('moderation: a bot that is killed', () => {
  const bans = ({ host }: Harness) => host.guild.auditLog.filter(({ reason }) => reason?.startsWith('[case 1]'));

  it('between the ban and its case finishes the case, and bans no one twice', () =>
    killedAt(
      (event) => event.type === 'memberLeave',
      ({ say, mod }) => say(mod, '!ban @alice spam'),
      async (after, modlog) => {
        expect(bans(after)).to.have.length(1);
        expect(await after.say(after.mod, '!case 1')).to.match(/Reason: spam$/);
        expect(modlog.messages).to.have.length(1);
        expect(await after.say(after.mod, '!warn @bob spam')).to.include('(case 2)');
      },
    ));

  it('before the ban does not ban, and says that it was not carried out', () =>
    killedAt(
      (event) => event.type === 'messageCreate' && event.message.channel.isDm && event.message.author.bot,
      async ({ say, mod, host }) => {
        host.discord.faults.rest.fail(403, { method: 'PUT', route: '/guilds/:guildId/bans/:userId', times: 9 });
        await say(mod, '!ban @alice spam');
      },
      async (after, modlog) => {
        expect([...after.host.guild.bans.keys()]).to.deep.equal([]);
        expect(await after.say(after.mod, '!case 1')).to.include('It was not carried out.');
        expect(modlog.messages.at(-1)?.content).to.include('It was not carried out.');
      },
    ));

  it('between the two steps of a softban lifts the ban', () =>
    killedAt(
      (event) => event.type === 'memberLeave',
      async ({ say, mod, host }) => {
        host.discord.faults.rest.fail(403, { method: 'DELETE', route: '/guilds/:guildId/bans/:userId', times: 9 });
        await say(mod, '!softban @alice spam');
      },
      async (after) => {
        expect([...after.host.guild.bans.keys()]).to.deep.equal([]);
        expect(await after.say(after.mod, '!case 1')).to.not.include('not');
      },
    ));

  it('reports an unclear result when Discord does not show it', () =>
    killedAt(
      (event) => event.type === 'messageCreate' && event.message.channel.isDm && event.message.author.bot,
      async ({ say, mod, host }) => {
        host.discord.faults.rest.fail(403, { method: 'DELETE', route: '/guilds/:guildId/members/:userId', times: 9 });
        await say(mod, '!kick @alice spam');
        // The member left by themselves, which looks the same in Discord.
        host.guild.remove(host.alice);
      },
      async (after) => {
        expect(await after.say(after.mod, '!case 1')).to.include('It is not clear whether it was carried out.');
      },
    ));

  it('between a warning and what follows from its points does that, once', () =>
    killedAt(
      (event) => event.type === 'messageCreate' && event.message.channel.name === 'modlog',
      async ({ say, mod, host }) => {
        await say(host.you, '!set moderation warnActions 1 timeout 1h');
        host.discord.faults.rest.fail(403, { method: 'PATCH', route: '/guilds/:guildId/members/:userId', times: 9 });
        await say(mod, '!warn @alice spam');
      },
      async (after) => {
        const { guild, alice } = after.host;
        expect(guild.memberOf(alice).timedOutUntil).to.be.a('number');
        expect(await after.say(after.mod, '!cases')).to.match(/\*\*2\*\* · Time-out .*\n\*\*1\*\* · Warning/);
      },
    ));
});
