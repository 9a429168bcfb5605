import type { TestHost } from '@cinnabar/core/testing';
import { PersonalDataStore, ToolHistory, Tools } from '@cinnabar/sdk';
import { expect } from 'chai';
import { clusterProcess } from '../../../support/cluster-process.js';
import { describePostgres, type TestDatabase, testDatabase } from '../../../support/postgres.js';
import { openPersonaHarness, plan, speak } from '../harness.js';

const remember = plan([
  { action: 'ADD_MEMORY', context: 'her sister', result: { text: 'Alice has a sister called Mara.', about: 'alice' } },
  speak('Mara it is.'),
]);

/** A host with separate data, on a shared database. */
async function hostOn(place: TestDatabase, group: number, world?: TestHost) {
  const database = clusterProcess(place);
  const host = await openPersonaHarness([remember], {
    more: ['mcp', 'discord-tools'],
    driver: database.driver(group, 2),
    ...(world === undefined ? {} : { world }),
  });
  return {
    host,
    export: async () => JSON.stringify(await host.resolve(PersonalDataStore).export(host.alice.id)),
    recent: async () => (await host.resolve(ToolHistory).recent(host.general.id)).map(({ call }) => call.name),
    async [Symbol.asyncDispose]() {
      await host[Symbol.asyncDispose]();
      await database.close();
    },
  };
}

describePostgres('persona and mcp: what one host has written', () => {
  it('is found by another host on the same database, exported and forgotten by the one that serves the guild', async () => {
    await using place = await testDatabase();
    await using first = await hostOn(place, 0);
    const { host } = first;
    const owner = Number((BigInt(host.guild.id) >> 22n) % 2n);
    await host.hears('I have a sister, Mara.');
    const actor = { userId: host.alice.id, guildId: host.guild.id, channelId: host.general.id };
    await host.resolve(Tools).invoke({ name: 'discord_list_servers', arguments: {}, actor, origin: 'test' });
    await host.settled();
    const called = await first.recent();
    expect(called).to.include('discord_list_servers');
    await host.stop();

    await using other = await hostOn(place, 1 - owner, host);
    await using taker = await hostOn(place, owner, host);
    expect(await other.export())
      .not.to.include('sister called Mara')
      .and.not.include('discord_list_servers');
    expect(await taker.export())
      .to.include('sister called Mara')
      .and.include('discord_list_servers');
    expect(await taker.recent()).to.deep.equal(called);

    await other.host.resolve(PersonalDataStore).forget(host.alice.id);
    expect(await taker.export()).to.include('sister called Mara');
    await taker.host.resolve(PersonalDataStore).forget(host.alice.id);
    expect(await taker.export())
      .not.to.include('Mara')
      .and.not.include('discord_list_servers');
    const lines = await place.query(`SELECT line FROM ${place.schema}.journal_lines`);
    expect(JSON.stringify(lines)).not.to.include('Mara');
  });
});
