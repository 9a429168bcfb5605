import { expect } from 'chai';
import { readMetrics, readReadiness } from '../../support/monitoring.js';
import { describePostgres } from '../../support/postgres.js';
import { createClusterWorld } from './harness.js';

const GROUPS = 2;
const SERVED = { CINNABAR_MONITORING: '0' };

describePostgres('cluster: health and metrics of a process', () => {
  it('are those of all groups that it holds, and of the cluster', async () => {
    await using world = await createClusterWorld({ groups: GROUPS, guilds: 6 });
    const earth = world.member('earth', [], SERVED);
    const mars = world.member('mars', [], SERVED);
    await earth.start();
    try {
      await world.until(() => [...earth.hosts()].filter(({ client }) => client.isReady()).length === GROUPS);
      expect(await readReadiness(earth.monitoringUrl)).to.eql({ status: 200, body: { status: 'ready' } });
      const alone = await readMetrics(earth.monitoringUrl);
      const guilds = ['0', '1'].map((group) => alone.value('cinnabar_guilds', { group }) ?? 0);
      expect(guilds.reduce((sum, one) => sum + one)).to.equal(6);
      expect(alone.value('cinnabar_cluster_leases_held')).to.equal(2);
      expect(alone.value('cinnabar_cluster_groups', { state: 'served' })).to.equal(2);
      for (const group of ['0', '1'])
        expect(alone.value('cinnabar_cluster_lease_renewed_seconds', { group })).to.be.below(6);
      expect(alone.names, 'each metric once').to.have.length(new Set(alone.names).size);
      expect(alone.labels('process_resident_memory_bytes'), 'the process, not its groups').to.eql([{}]);

      await mars.start();
      await world.until(() => mars.groups().length === 1 && earth.groups().length === 1);
      await world.until(() => [...mars.hosts()].every(({ client }) => client.isReady()));
      const joined = await readMetrics(mars.monitoringUrl);
      expect(joined.value('cinnabar_cluster_takeovers_total', { reason: 'rebalanced' })).to.equal(1);
      expect(joined.value('cinnabar_cluster_processes')).to.equal(2);
    } finally {
      await mars.stop();
      await earth.stop();
    }
    expect(earth.monitoringUrl).to.equal(undefined);
  }).timeout(60_000);
});
