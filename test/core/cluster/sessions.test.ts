import { expect } from 'chai';
import type { GatewayGuildCreateDispatchData, GatewayReadyDispatchData } from 'discord.js';
import { clusterProcess, heldLease } from '../../support/cluster-process.js';
import { describePostgres, testDatabase } from '../../support/postgres.js';

const SHARD = 0;
const MANY = 130;

/** `null` while Discord reports it as unavailable. */
type StoredGuild = GatewayGuildCreateDispatchData | null;

describePostgres('sessions of a cluster', () => {
  it('are stored with however many servers, those that are gone and those that are away', async () => {
    await using place = await testDatabase();
    await using process = clusterProcess(place);
    await process.open();
    await place.query(`INSERT INTO ${place.schema}.leases (group_number, token) VALUES (0, 1)`);
    const store = process.sessions(heldLease(), 1);
    const ready: GatewayReadyDispatchData = JSON.parse('{ "v": 10, "guilds": [] }');
    const shard = (sequence: number) => ({
      shardId: SHARD,
      session: { sessionId: 'a', resumeURL: 'wss://gateway', sequence, shardId: SHARD, shardCount: 1 },
      intents: 1,
      ready,
    });
    const nameOf = (index: number) => `A "server" with \\ and \u0000 in its name, ${index}`;
    const guild = (index: number): StoredGuild => JSON.parse(JSON.stringify({ id: `${index}`, name: nameOf(index) }));
    const changed = (from: number, to: number, of: (index: number) => StoredGuild | undefined) =>
      Array.from({ length: to - from }, (_, index): [string, { shardId: number; guild: StoredGuild | undefined }] => [
        `${from + index}`,
        { shardId: SHARD, guild: of(from + index) },
      ]);

    await store.save([shard(1)], new Map(changed(0, MANY, guild)));
    const gone = changed(0, 60, () => undefined);
    const away = changed(60, 70, () => null);
    await store.save([shard(2)], new Map([...gone, ...away, ...changed(MANY, MANY + 1, guild)]));

    const stored = (await store.load([SHARD])).get(SHARD);
    expect(stored?.session.sequence).to.equal(2);
    const ids = Array.from({ length: MANY + 1 - 60 }, (_, index) => `${60 + index}`);
    expect([...(stored?.guilds.keys() ?? [])].sort()).to.deep.equal(ids.sort());
    expect(stored?.guilds.get('65')).to.equal(null);
    for (const index of [70, MANY]) expect(stored?.guilds.get(`${index}`)?.name).to.equal(nameOf(index));
  });
});
