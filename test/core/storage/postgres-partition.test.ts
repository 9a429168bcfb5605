import type { Driver } from '@cinnabar/core';
import { createGuildStates, guildStateDocuments } from '@cinnabar/core/internal/gateway/guild-states';
import { createPartition } from '@cinnabar/core/internal/gateway/partition';
import { createConnections } from '@cinnabar/core/internal/storage/drivers/postgres/connection';
import { migrate, placeDocuments } from '@cinnabar/core/internal/storage/drivers/postgres/migrations';
import { type SettingsChange, z } from '@cinnabar/sdk';
import { expect } from 'chai';
import { clusterProcess } from '../../support/cluster-process.js';
import { describePostgres, type TestDatabase, testDatabase } from '../../support/postgres.js';
import { identitiesIn, opener, storageOn } from './fixture.js';

const GROUPS = 2;
/** A server of each group. */
const [GUILD_0, GUILD_1] = [String(100n << 22n), String(101n << 22n)];

const number = z.object({ n: z.number().default(0) });
const collections = {
  guilds: { scope: 'guild', version: 1, schema: number },
  members: { scope: 'member', version: 1, schema: number },
  channels: { scope: 'channel', version: 1, schema: number },
  users: { scope: 'user', version: 1, schema: number },
  work: { scope: 'global', version: 1, schema: z.object({ guildId: z.string().nullable() }) },
  known: { scope: 'user', version: 1, schema: number, shared: true },
} as const;
const settings = { guild: number, global: number, user: number };

/** A process that serves one group; with all of them, a bot without a cluster. */
function hostOn(place: TestDatabase, group: number, groups = GROUPS, channels: Record<string, string | null> = {}) {
  const { database, ...process } = clusterProcess(place);
  const driver = process.driver(group, groups);
  const storage = storageOn(driver, { guildOf: (_kind, id) => channels[id] });
  return {
    database,
    driver,
    storage,
    ...opener(storage).open({ collections, settings }),
    [Symbol.asyncDispose]: () => database.close(),
  };
}

async function keysOf(entries: AsyncIterable<readonly [string, unknown]>): Promise<readonly string[]> {
  const keys: string[] = [];
  for await (const [key] of entries) keys.push(key);
  return keys.sort();
}

/** Waits for a condition; the test's time limit ends it. */
async function until(holds: () => unknown): Promise<void> {
  while (!(await holds())) await new Promise(setImmediate);
}

const ownJournals = async ({ driver }: { readonly driver: Driver }) =>
  (await driver.journals()).filter(({ isOwn }) => isOwn).map(({ path }) => path);

describePostgres('PostgreSQL: documents of a group of servers', () => {
  it('are listed by the host that serves them, by guild, member, channel or what the document says; the rest by the first', async () => {
    await using place = await testDatabase();
    const channels = { '10': GUILD_0, '11': GUILD_1, '12': null };
    await using zero = hostOn(place, 0, GROUPS, channels);
    await using one = hostOn(place, 1, GROUPS, channels);
    for (const guildId of [GUILD_0, GUILD_1]) {
      await zero.collections.guilds.of(guildId).set({ n: 1 });
      await zero.collections.members.of({ guildId, userId: '7' }).set({ n: 1 });
      await zero.collections.work.of(`work ${guildId}`).set({ guildId });
      await zero.settings.guild(guildId).set({ n: 1 });
    }
    for (const id of ['10', '11', '12', '13']) await zero.collections.channels.of(id).set({ n: 1 });
    await zero.collections.work.of('work of nobody').set({ guildId: null });
    await one.collections.users.of('7').set({ n: 1 });
    await one.collections.known.of('7').set({ n: 1 });

    const listed = async (host: typeof zero) =>
      Object.fromEntries(
        await Promise.all(
          Object.entries(host.collections).map(async ([name, collection]) => [
            name,
            await keysOf(collection.entries()),
          ]),
        ),
      );
    expect(await listed(zero)).to.deep.equal({
      guilds: [GUILD_0],
      members: [`${GUILD_0}:7`],
      channels: ['10', '12', '13'],
      users: ['7'],
      work: [`work ${GUILD_0}`, 'work of nobody'],
      known: ['7'],
    });
    expect(await listed(one)).to.deep.equal({
      guilds: [GUILD_1],
      members: [`${GUILD_1}:7`],
      channels: ['11'],
      users: [],
      work: [`work ${GUILD_1}`],
      known: ['7'],
    });
    expect(await one.collections.guilds.of(GUILD_0).get()).to.deep.equal({ n: 1 });
    await using alone = hostOn(place, 0, 1);
    expect(await keysOf(alone.collections.channels.entries())).to.deep.equal(['10', '11', '12', '13']);
  });

  it('keep their server when they are written where it is not known, and copies of them have it', async () => {
    await using place = await testDatabase();
    await using zero = hostOn(place, 0);
    await using one = hostOn(place, 1, GROUPS, { '11': GUILD_1 });
    await one.collections.channels.of('11').set({ n: 1 });
    await zero.collections.channels.of('11').set({ n: 2 });
    await zero.driver.setAside(['party', 'collections', 'channel', 'channels', '11']);
    expect(await zero.driver.list([])).to.deep.equal([]);
    expect(await one.driver.list([])).to.have.length(1);
  });

  it('have journals apart where they belong to no server', async () => {
    await using place = await testDatabase();
    await using zero = hostOn(place, 0);
    await using one = hostOn(place, 1);
    for (const [index, { driver }] of [zero, one].entries()) {
      await driver.journal(['relay', 'queue', 'queue']).add(`{"n":${index}}\n`);
      await driver.journal(['relay', 'log', index === 0 ? GUILD_0 : GUILD_1]).add('{}\n');
    }
    expect(await one.driver.journal(['relay', 'queue', 'queue']).read()).to.equal('{"n":1}\n');
    expect(await zero.driver.journal(['relay', 'queue', 'queue']).read()).to.equal('{"n":0}\n');
    expect(await ownJournals(one)).to.deep.equal([
      ['relay', 'log', GUILD_1],
      ['relay', 'queue', 'queue'],
    ]);
    expect(await ownJournals(zero)).to.deep.equal([
      ['relay', 'log', GUILD_0],
      ['relay', 'queue', 'queue'],
    ]);
  });

  it('have journals of a server by its folder, by their writer, or by neither', async () => {
    await using place = await testDatabase();
    await using zero = hostOn(place, 0);
    await using one = hostOn(place, 1);
    const paths = {
      memories: ['persona', GUILD_1, 'guild'],
      // The thread's id is a channel's, not the server's.
      thread: ['persona', GUILD_1, GUILD_0],
      dm: ['persona', `dm-${GUILD_1}`, GUILD_1],
      calls: ['tools', GUILD_1, '10', '2026-01-01-00'],
      copied: ['tools', GUILD_1, '11', '2026-01-01-00'],
    };
    for (const path of [paths.memories, paths.thread, paths.dm]) await one.driver.journal(path).add('{"n":1}\n');
    await one.driver.journal(paths.calls, GUILD_1).add('{"n":1}\n');
    await zero.driver.journal(paths.copied).add('{"n":1}\n');
    expect(await ownJournals(one)).to.have.deep.members([paths.memories, paths.thread, paths.calls]);
    expect(await ownJournals(zero)).to.have.deep.members([paths.dm, paths.copied]);
    expect((await zero.driver.journals(['tools'])).map(({ path, isOwn }) => [path[2], isOwn])).to.deep.equal([
      ['10', false],
      ['11', true],
    ]);
    expect(await zero.driver.journal(paths.memories).read()).to.equal('{"n":1}\n');
    await one.driver.journal(paths.memories).keepCopy('corrupt-1');
    expect(await one.driver.journals(['persona', GUILD_1])).to.have.length(2);
  });

  it('are gone over as they are when it is their turn', async () => {
    await using place = await testDatabase();
    await using zero = hostOn(place, 0, 1);
    await Promise.all(Array.from({ length: 60 }, (_, n) => zero.collections.users.of(String(100 + n)).set({ n })));
    await using again = hostOn(place, 0, 1);
    const seen: number[] = [];
    for await (const [, { n }] of again.collections.users.entries()) {
      seen.push(n);
      if (n === 3) await again.collections.users.of('104').delete();
    }
    expect(seen).to.have.length(59);
  });

  it('have journals together again when there is no cluster any more', async () => {
    await using place = await testDatabase();
    await using zero = hostOn(place, 0);
    await using one = hostOn(place, 1);
    const path = ['relay', 'queue', 'queue'];
    for (const [index, { driver }] of [zero, one, zero].entries()) await driver.journal(path).add(`{"n":${index}}\n`);
    await using alone = hostOn(place, 0, 1);
    const journal = alone.driver.journal(path);
    expect(await journal.read()).to.equal('{"n":0}\n{"n":1}\n{"n":2}\n');
    expect(await ownJournals(alone)).to.deep.equal([path]);
    await journal.replace('{"n":3}\n');
    expect(await journal.read()).to.equal('{"n":3}\n');
    expect(await place.query(`SELECT path FROM ${place.schema}.journal_lines`)).to.deep.equal([
      { path: 'relay/queue/queue' },
    ]);
  });

  it('of channels that were copied from files get their server once Discord is asked', async () => {
    await using place = await testDatabase();
    await using alone = hostOn(place, 0, 1);
    for (const id of ['10', '11', '12']) await alone.collections.channels.of(id).set({ n: 1 });
    await using one = hostOn(place, 1);
    expect(await keysOf(one.collections.channels.entries())).to.deep.equal([]);
    const asked: string[] = [];
    const guildOf = async (kind: string, id: string) => {
      asked.push(`${kind} ${id}`);
      return { '10': GUILD_0, '11': GUILD_1 }[id] ?? null;
    };
    expect(await placeDocuments(one.database, guildOf)).to.equal(3);
    expect(await placeDocuments(one.database, guildOf)).to.equal(0);
    expect(asked.sort()).to.deep.equal(['channel 10', 'channel 11', 'channel 12']);
    expect(await keysOf(one.collections.channels.entries())).to.deep.equal(['11']);
    await using zero = hostOn(place, 0);
    expect(await keysOf(zero.collections.channels.entries())).to.deep.equal(['10', '12']);
  });

  it('from before there were groups get their server from their path and from what they hold', async () => {
    await using place = await testDatabase();
    const { schema, query } = place;
    const connections = createConnections({ ...place, poolSize: 1 });
    await migrate(connections, schema, 2);
    await connections.close();
    const add = (path: string, data: unknown) =>
      query(`INSERT INTO ${schema}.documents (path, body) VALUES ($1, $2)`, [
        path,
        JSON.stringify({ version: 1, data }),
      ]);
    await add(`party/settings/guild/${GUILD_1}`, {});
    await add(`party/settings/member/${GUILD_1}:7`, {});
    await add(`party/collections/guild/guilds/${GUILD_0}`, {});
    await add('party/collections/channel/channels/11', {});
    await add('party/collections/global/work/a', { guildId: GUILD_1, text: '\0 \ud800' });
    await add('party/collections/global/work/b', { guildId: GUILD_1 });
    await add('party/collections/global/work/c', { other: { guildId: GUILD_1 } });
    await add('@host/ledger/ended/x', { actor: { guildId: GUILD_1 } });
    await using again = hostOn(place, 0, 1);
    await again.database.open();
    const rows = await query(`SELECT path, guild_id FROM ${schema}.documents ORDER BY path`);
    expect(rows.map(({ path, guild_id: guildId }) => [path, guildId])).to.deep.equal([
      ['@host/ledger/ended/x', GUILD_1],
      ['party/collections/channel/channels/11', null],
      ['party/collections/global/work/a', '0'],
      ['party/collections/global/work/b', GUILD_1],
      ['party/collections/global/work/c', '0'],
      [`party/collections/guild/guilds/${GUILD_0}`, GUILD_0],
      [`party/settings/guild/${GUILD_1}`, GUILD_1],
      [`party/settings/member/${GUILD_1}:7`, GUILD_1],
    ]);
  });
});

describePostgres('PostgreSQL: what another process changes', () => {
  it('reaches watchers of a collection, for own servers or shared, and once', async () => {
    await using place = await testDatabase();
    await using zero = hostOn(place, 0);
    await using one = hostOn(place, 1);
    const heard: string[] = [];
    for (const [name, collection] of Object.entries(one.collections)) {
      collection.watch((key, { isRemote }) => heard.push(`${name} ${key} ${isRemote ? 'there' : 'here'}`));
    }
    await one.collections.guilds.of(GUILD_1).set({ n: 1 });
    await zero.collections.guilds.of(GUILD_0).set({ n: 1 });
    await zero.collections.users.of('7').set({ n: 1 });
    await zero.collections.known.of('7').set({ n: 1 });
    await zero.collections.guilds.of(GUILD_1).set({ n: 2 });
    await until(() => heard.includes(`guilds ${GUILD_1} there`));
    expect(heard).to.deep.equal([`guilds ${GUILD_1} here`, 'known 7 there', `guilds ${GUILD_1} there`]);
    expect(await one.collections.guilds.of(GUILD_1).get()).to.deep.equal({ n: 2 });
  });

  it('reaches listeners to settings, and is read again', async () => {
    await using place = await testDatabase();
    await using zero = hostOn(place, 0);
    await using one = hostOn(place, 1);
    const heard: SettingsChange[] = [];
    one.onChange((change) => heard.push(change));
    await one.settings.global.get();
    await zero.settings.guild(GUILD_0).set({ n: 1 });
    await zero.settings.user('7').set({ n: 1 });
    await zero.settings.guild(GUILD_1).set({ n: 1 });
    await zero.settings.global.set({ n: 1 });
    await until(() => heard.length === 3);
    expect(heard).to.deep.equal([
      { scope: 'user', of: '7' },
      { scope: 'guild', of: GUILD_1 },
      { scope: 'global', of: null },
    ]);
    expect(await one.settings.global.get()).to.deep.equal({ n: 1 });
  });

  it('is followed by the states of servers in memory', async () => {
    await using place = await testDatabase();
    await using zero = hostOn(place, 0);
    await using one = hostOn(place, 1);
    const switched: unknown[] = [];
    const statesOf = ({ storage }: typeof one, isHeard = false) =>
      createGuildStates(storage.collection('guilds', guildStateDocuments, 'all'), {
        onSwitched: (plugins, guildId) => isHeard && switched.push([plugins, guildId]),
        owns: createPartition(1, GROUPS).owns,
      });
    const [there, here] = [statesOf(zero), statesOf(one, true)];
    await here.open();
    await there.update(GUILD_1, (draft) => ({ ...draft, plugins: { party: false }, prefixes: ['?'] }));
    await until(() => here.peek(GUILD_1)?.prefixes?.[0] === '?');
    expect(switched).to.deep.equal([[['party'], GUILD_1]]);

    // The settings of another host must not count as default values.
    const modRoles = async () => (await here.load(GUILD_0)).modRoles;
    await there.update(GUILD_0, (draft) => ({ ...draft, modRoles: ['1'] }));
    expect(here.peek(GUILD_0)).to.equal(undefined);
    expect(await modRoles()).to.deep.equal(['1']);
    await there.update(GUILD_0, (draft) => ({ ...draft, modRoles: ['2'] }));
    await until(async () => (await modRoles())[0] === '2');
  });

  it('is announced once the connection is back', async () => {
    await using place = await testDatabase();
    await using zero = hostOn(place, 0);
    await using one = hostOn(place, 1);
    await one.driver.open?.();
    const heard: string[] = [];
    one.collections.guilds.watch((key) => heard.push(key));
    const { schema, query } = place;
    await zero.collections.guilds.of(GUILD_1).set({ n: 1 });
    await until(() => heard.length === 1);
    await query(`BEGIN; ALTER TABLE ${schema}.documents DISABLE TRIGGER announce;
      UPDATE ${schema}.documents SET body = '{"version":1,"data":{"n":5}}';
      ALTER TABLE ${schema}.documents ENABLE TRIGGER announce; COMMIT;`);
    await query(`SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE query = 'LISTEN ${schema}'`);
    await until(() => heard.length >= 2);
    expect(new Set(heard)).to.deep.equal(new Set([GUILD_1]));
    expect(await one.collections.guilds.of(GUILD_1).get()).to.deep.equal({ n: 5 });
  });

  it('is followed by agents, also when one was removed while nothing was heard', async () => {
    await using place = await testDatabase();
    await using zero = hostOn(place, 0);
    await using one = hostOn(place, 1);
    await one.driver.open?.();
    const here = identitiesIn(one.storage);
    const johnny = { id: 'party:johnny', plugin: 'party', name: 'Johnny', grants: [] };
    expect(await here.get(johnny.id)).to.equal(undefined);
    await identitiesIn(zero.storage).save(johnny);
    await until(async () => (await here.get(johnny.id)) !== undefined);
    const { schema, query } = place;
    await query(`BEGIN; ALTER TABLE ${schema}.documents DISABLE TRIGGER announce;
      DELETE FROM ${schema}.documents; ALTER TABLE ${schema}.documents ENABLE TRIGGER announce; COMMIT;`);
    await query(`SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE query = 'LISTEN ${schema}'`);
    await until(async () => (await here.get(johnny.id)) === undefined);
  });
});
