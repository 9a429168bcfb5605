import { createTestHost, type TestHost } from '@cinnabar/core/testing';
import { NO_CHANNEL, WebPages } from '@cinnabar/sdk';
import { expect } from 'chai';
import { failure } from '../../support/codes.js';

const SERVERS = 10;
const MEMBER = '/guilds/:guildId/members/:userId';

/** The bot has no intent for members, so Discord does not send their changes. */
describe('web: the list of a person’s servers', () => {
  const inServers = async () => {
    const host = await createTestHost({ plugins: ['admin'], printErrors: false });
    const guilds = Array.from({ length: SERVERS }, (_, index) => {
      const guild = host.discord.createGuild({ name: `Server ${index}`, owner: host.you });
      guild.invite(host.application);
      guild.join(host.alice);
      guild.giveRole(host.alice, guild.createRole({ name: 'admins', permissions: ['Administrator'] }));
      return guild;
    });
    await host.settled();
    return Object.assign(host, { guilds });
  };
  const asked = ({ discord }: TestHost) => discord.requests.of('GET', MEMBER).length;
  const namesFor = async (host: TestHost, { id }: { readonly id: string }) =>
    (await host.resolve(WebPages).guilds(id)).map(({ name }) => name);
  const NAMES = ['Night City', ...Array.from({ length: SERVERS }, (_, index) => `Server ${index}`)];

  it('asks Discord about several servers at a time, and keeps their order by name', async () => {
    await using host = await inServers();
    const before = asked(host);
    const release = host.discord.faults.rest.hold({ method: 'GET', route: MEMBER });
    const listed = namesFor(host, host.you);
    // The first request waits, without delaying the others. It is given up after 15 s without a response.
    while (asked(host) < before + SERVERS) await new Promise((resolve) => setImmediate(resolve));
    release();
    expect(await listed).to.eql(NAMES);
  }).timeout(12_000);

  it('uses for a minute what Discord has said of the person, but opens no page by it', async () => {
    await using host = await inServers();
    const [left] = host.guilds;
    if (left === undefined) throw new Error('there are no servers');
    expect(await namesFor(host, host.alice)).to.eql(NAMES);
    const before = asked(host);
    left.remove(host.alice);
    host.clock.advance(50_000);
    expect(await namesFor(host, host.alice)).to.eql(NAMES);
    expect(asked(host)).to.equal(before);

    const actor = { userId: host.alice.id, guildId: left.id, channelId: NO_CHANNEL };
    await failure('CINNABAR_ACCESS_DENIED', () => host.resolve(WebPages).view('admin/access', { actor, query: {} }));
    const others = NAMES.filter((name) => name !== left.name);
    expect(await namesFor(host, host.alice)).to.eql(others);
    host.clock.advance(11_000);
    const after = asked(host);
    expect(await namesFor(host, host.alice)).to.eql(others);
    expect(asked(host)).to.be.at.least(after + SERVERS - 1);
  });
});
