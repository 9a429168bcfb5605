import { HostInfo, NO_CHANNEL, type WebBlock, WebPages } from '@cinnabar/sdk';
import { expect } from 'chai';
import { describePostgres } from '../../support/postgres.js';
import { createClusterWorld } from './harness.js';

const GROUPS = 4;

/** Two processes with two groups each. */
async function createTwoProcesses() {
  const world = await createClusterWorld({ groups: GROUPS, guilds: 4 });
  const members = ['earth', 'mars'].map((name) => world.member(name, ['admin', 'web'], { CINNABAR_WEB: '0' }));
  for (const member of members) await member.start();
  const hosts = () => members.flatMap((member) => [...member.hosts()]);
  await world.until(
    () => members.every((member) => member.groups().length === 2) && hosts().every(({ client }) => client.isReady()),
  );
  const actor = { userId: world.owner.id, guildId: null, channelId: NO_CHANNEL };
  return {
    world,
    async health(query: Readonly<Record<string, string>> = {}): Promise<readonly WebBlock[]> {
      const first = hosts().find((host) => host.resolve(HostInfo).isFirst);
      return (await first?.resolve(WebPages).view('web/health', { actor, query }))?.blocks ?? [];
    },
    async [Symbol.asyncDispose]() {
      for (const member of members) await member.stop();
      await world[Symbol.asyncDispose]();
    },
  };
}

const plotsIn = (blocks: readonly WebBlock[]) => blocks.flatMap((block) => (block.kind === 'plot' ? [block] : []));
const rowsOf = (blocks: readonly WebBlock[], title: string) =>
  blocks.flatMap((block) => (block.kind === 'table' && block.title === title ? block.rows : []));

describePostgres('cluster: the health of all processes', () => {
  let two: Awaited<ReturnType<typeof createTwoProcesses>>;
  before(async function () {
    this.timeout(60_000);
    two = await createTwoProcesses();
  });
  after(() => two[Symbol.asyncDispose]());

  it('has one line in each plot for each process, and its figures in a row', async () => {
    const beganAt = Date.now();
    for (let look = 0; look < 3; look += 1) await two.health();
    const blocks = await two.health();
    const begin = blocks.flatMap((one) => (one.kind === 'facts' ? one.facts : []))[0];
    expect(begin).to.include({ name: 'The plots begin' });
    const { value } = begin ?? {};
    const time = typeof value === 'object' && value !== null && 'time' in value ? value.time : undefined;
    expect(time, 'a process of which group 0 is taken over begins anew').to.be.within(beganAt - 60_000, Date.now());
    const plots = plotsIn(blocks);
    expect(plots.map(({ title }) => title)).to.include.members(['Memory in use', 'In a minute: commands']);
    for (const { title, series } of plots)
      expect(
        series.map(({ name }) => name),
        title,
      ).to.eql(['earth', 'mars']);
    const [memory] = plots.filter(({ title }) => title === 'Memory in use');
    for (const { points } of memory?.series ?? []) {
      expect(points.length).to.be.greaterThan(2);
      // Both are this process, which is not counted once for each group.
      for (const [, bytes] of points) expect(bytes).to.be.within(1, 1.5 * process.memoryUsage.rss());
    }
    const rows = rowsOf(blocks, 'Processes');
    expect(rows.map(({ id }) => id)).to.eql(['earth', 'mars']);
    expect(JSON.stringify(blocks)).not.to.include('does not answer');
    expect(
      (await two.health({ part: 'under-way' })).flatMap((one) => (one.kind === 'table' ? one.columns : [])),
    ).to.eql([{ name: 'Process' }, { name: 'Plugin' }, { name: 'Under way', numeric: true }]);
  }).timeout(60_000);

  it('names a process that does not answer in time', async () => {
    const { query, schema } = two.world.database;
    // Alive by its heartbeat and its lease, and deaf.
    await query(
      `INSERT INTO ${schema}.members (id, name, version, seen_at) VALUES ('0', 'venus', '1', now() + interval '1 hour')`,
    );
    await query(
      `INSERT INTO ${schema}.leases (group_number, token, holder, until, taken_at, ready_at) VALUES (${GROUPS}, 1, '0', now() + interval '1 hour', now(), now())`,
    );
    const blocks = await two.world.later(two.health());
    expect(blocks).to.deep.include({
      kind: 'notice',
      tone: 'warning',
      text: 'The process venus does not answer at the moment, so its part is missing here.',
    });
    const [venus] = rowsOf(blocks, 'Processes').filter(({ id }) => id === 'venus');
    expect(venus?.cells[1]).to.eql({ badge: 'does not answer', tone: 'bad' });
    // The others need not wait for it when they stop.
    await query(`DELETE FROM ${schema}.leases WHERE group_number = ${GROUPS}`);
    await query(`DELETE FROM ${schema}.members WHERE id = '0'`);
  }).timeout(60_000);
});
