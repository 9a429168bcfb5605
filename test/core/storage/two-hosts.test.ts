import { readdirSync } from 'node:fs';
import { createTestHost } from '@cinnabar/core/testing';
import { definePlugin, Identities, type SettingsChange, z } from '@cinnabar/sdk';
import { expect } from 'chai';
import { clusterProcess } from '../../support/cluster-process.js';
import { makeFolder } from '../../support/folder.js';
import { describePostgres, type TestDatabase, testDatabase } from '../../support/postgres.js';

/** A bot with its own local Discord, on shared data. */
async function hostOn(place: TestDatabase, group: number, folder?: string) {
  const heard: SettingsChange[] = [];
  const party = definePlugin({
    manifest: { id: 'party', version: '1.0.0', description: 'Stores things' },
    settings: { global: z.object({ drinks: z.number().default(0) }) },
    collections: { notes: { scope: 'channel', version: 1, schema: z.object({ n: z.number() }) } },
    setup(context) {
      const { command, settingsChanged, settings, collections } = context;
      const journals = context.journals({ folder });
      settingsChanged((change) => void heard.push(change));
      command({
        name: 'drinks',
        description: 'How many',
        run: async (ctx) => void (await ctx.reply(`drinks: ${(await settings.global.get()).drinks}`)),
      });
      command({
        name: 'note',
        description: 'Notes something about this channel',
        async run(ctx) {
          await collections.notes.of(ctx.channel.id).set({ n: 1 });
          await ctx.reply('noted');
        },
      });
      command({
        name: 'write',
        description: 'Adds to a journal',
        async run(ctx) {
          await journals.open(['1', 'notes'], { schema: z.number(), guildId: ctx.guild?.id ?? null }).append(1);
          await ctx.reply('written');
        },
      });
      command({
        name: 'more',
        description: 'One more',
        async run(ctx) {
          await settings.global.set({ drinks: (await settings.global.get()).drinks + 1 });
          await ctx.reply('Cheers');
        },
      });
    },
  });
  const database = clusterProcess(place);
  const host = await createTestHost({
    plugins: [party, 'admin'],
    driver: database.driver(group, 2),
  });
  const ask = async (words: string) => {
    host.you.say(host.general, words);
    await host.settled();
    return host.general.messages.at(-1)?.content;
  };
  return {
    host,
    heard,
    ask,
    /** Repeats the query until the answer is right; the test's time limit ends it. */
    async until(holds: () => Promise<boolean> | boolean) {
      while (!(await holds())) await new Promise(setImmediate);
    },
    async [Symbol.asyncDispose]() {
      await host[Symbol.asyncDispose]();
      await database.close();
    },
  };
}

describePostgres('two hosts on one database', () => {
  it('follow one another: settings, plugins that the owner switches, and agents', async () => {
    await using place = await testDatabase();
    await using one = await hostOn(place, 0);
    await using other = await hostOn(place, 1);
    expect(await other.ask('!drinks')).to.equal('drinks: 0');
    expect(await one.ask('!more')).to.equal('Cheers');
    await other.until(() => other.heard.length > 0);
    expect(other.heard).to.deep.equal([{ scope: 'global', of: null }]);
    expect(await other.ask('!drinks')).to.equal('drinks: 1');

    expect(await one.ask('!plugin default party off')).to.equal('`party` is off by default now.');
    await other.until(async () => (await other.ask('!drinks'))?.includes('switched off') === true);
    await other.ask('!plugin default party on');

    const there = one.host.resolve(Identities);
    const here = other.host.resolve(Identities);
    expect(await here.get('party:johnny')).to.equal(undefined);
    await there.save({ id: 'party:johnny', name: 'Johnny', plugin: 'party', grants: [] });
    await other.until(async () => (await here.get('party:johnny')) !== undefined);
    await there.remove('party:johnny');
    await other.until(async () => (await here.get('party:johnny')) === undefined);
  });

  it('know the server of what they keep for a channel', async () => {
    await using place = await testDatabase();
    await using one = await hostOn(place, 0);
    const { host } = one;
    const direct = host.you.openDm(host.bot);
    expect(await one.ask('!note')).to.equal('noted');
    host.you.say(direct, '!note');
    await one.until(() => direct.messages.at(-1)?.content === 'noted');
    const rows = await place.query(`SELECT path, guild_id FROM ${place.schema}.documents WHERE path LIKE 'party/%'`);
    expect(new Map(rows.map(({ path, guild_id: guildId }) => [path, guildId]))).to.deep.equal(
      new Map([
        [`party/collections/channel/notes/${host.general.id}`, host.guild.id],
        [`party/collections/channel/notes/${direct.id}`, '0'],
      ]),
    );
  });

  it('keep journals for which an operator has named a folder in the database, too', async () => {
    await using place = await testDatabase();
    using folder = makeFolder();
    await using one = await hostOn(place, 0, folder.path);
    expect(await one.ask('!write')).to.equal('written');
    expect(readdirSync(folder.path)).to.eql([]);
    const [row] = await place.query(
      `SELECT count(*) AS n FROM ${place.schema}.journal_lines WHERE path LIKE 'party/1/%'`,
    );
    expect(Number(row?.n)).to.equal(1);
  });
});
