import { appendFile, copyFile, readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Driver } from '@cinnabar/core';
import { createTestHost, type TestHost } from '@cinnabar/core/testing';
import { definePlugin, PersonalDataStore, ToolHistory, ToolPolicies, Tools, UserError, z } from '@cinnabar/sdk';
import { expect } from 'chai';
import { openData, openFiles } from '../../support/data.js';
import { makeFolder } from '../../support/folder.js';
import { call } from './harness.js';

const HOUR_MS = 3_600_000;

const shop = definePlugin({
  manifest: { id: 'shop', version: '1.0.0', description: 'Sells things' },
  setup({ tool }) {
    tool({
      name: 'buy',
      description: 'Buys a thing',
      input: z.object({ what: z.string() }),
      risk: 'write',
      present: { success: ({ what }) => `${what} bought` },
      run({ what }) {
        if (what === 'nothing') throw new UserError('The shelf is empty.');
      },
    });
  },
});

describe('the history of tool calls', () => {
  let host: TestHost;
  beforeEach(async () => {
    host = await createTestHost({ plugins: ['mcp', shop] });
  });
  afterEach(() => host[Symbol.asyncDispose]());

  /** The stored history, by hour. Stops the host. */
  const journals = async () => {
    await host.stop();
    await using data = await openData(host.dataDir);
    const place = ['tools', host.bot.id, host.general.id];
    const found = await data.journals(place);
    const texts = found.map(async ({ path }) => {
      const lines = (await data.journal(path).read()).trimEnd().split('\n');
      return [path.slice(place.length).join('/'), lines] as const;
    });
    return new Map(await Promise.all(texts));
  };
  const recent = (since?: string) => host.resolve(ToolHistory).recent(host.general.id, since);
  const bought = async (since?: string) => (await recent(since)).map(({ call: { input } }) => input.what);

  it('is a line for each call, of any plugin, in a journal for the bot, the channel and the hour', async () => {
    const actor = { userId: host.alice.id, guildId: host.guild.id, channelId: host.general.id };
    const { callId } = await host
      .resolve(Tools)
      .invoke({ name: 'buy', arguments: { what: 'milk' }, actor, origin: 'chat', messageId: '1456074443980800099' });
    const found = await journals();
    expect([...found.keys()]).to.deep.equal(['2026-01-01-00']);
    const [line = ''] = found.get('2026-01-01-00') ?? [];
    expect(JSON.parse(line)).to.deep.equal({
      call: {
        id: callId,
        name: 'buy',
        input: { what: 'milk' },
        messageId: '1456074443980800099',
        userId: host.alice.id,
      },
      result: {
        callId,
        output: 'milk bought',
        sources: [{ guildId: actor.guildId, channelId: actor.channelId }],
      },
      timestamp: '2026-01-01T00:00:00.000Z',
    });
  });

  it('keeps why a call failed or was refused', async () => {
    await call(host, 'buy', { what: 'nothing' });
    await host.resolve(ToolPolicies).set(host.guild.id, 'buy', 'deny');
    await call(host, 'buy', { what: 'milk' });
    const results = (await recent()).map(({ result }) => result);
    expect(results[0]).to.include({ output: null, error: 'The shelf is empty.' });
    expect(results[1]?.error).to.match(/the policy of this server forbids it/);
  });

  it('goes on in a new journal with each hour', async () => {
    await call(host, 'buy', { what: 'milk' });
    await host.advance(HOUR_MS - 1);
    await call(host, 'buy', { what: 'bread' });
    await host.advance(1);
    await call(host, 'buy', { what: 'eggs' });
    expect(await bought()).to.deep.equal(['milk', 'bread', 'eggs']);
    const found = await journals();
    expect(found.get('2026-01-01-00')).to.have.lengthOf(2);
    expect(found.get('2026-01-01-01')).to.have.lengthOf(1);
  });

  it('returns the calls after a message, first from the disk, then from memory', async () => {
    await call(host, 'buy', { what: 'milk' });
    await host.advance(2 * HOUR_MS);
    const between = host.alice.say(host.general, 'between').id;
    await host.advance(1);
    await call(host, 'buy', { what: 'bread' });
    await host.stop();
    await using again = await createTestHost({ plugins: ['mcp', shop], world: host, dataDir: host.dataDir });
    const history = again.resolve(ToolHistory);
    const since = async (id?: string) =>
      (await history.recent(host.general.id, id)).map(({ call: { input } }) => input.what);
    expect(await since(between)).to.deep.equal(['bread']);
    await call(again, 'buy', { what: 'eggs' });
    expect(await since(between)).to.deep.equal(['bread', 'eggs']);
    expect(await since()).to.deep.equal(['milk', 'bread', 'eggs']);
  });

  it('gives a member what they asked for, and forgets it for them alone', async () => {
    await call(host, 'buy', { what: 'milk' });
    const bob = { userId: host.bob.id, guildId: host.guild.id, channelId: host.general.id };
    await host.resolve(Tools).invoke({ name: 'buy', arguments: { what: 'tea' }, actor: bob, origin: 'test' });
    const store = host.resolve(PersonalDataStore);
    const exported = JSON.stringify((await store.export(host.alice.id)).own);
    expect(exported).to.contain('milk').and.not.contain('tea');
    await store.forget(host.alice.id);
    expect(await bought()).to.deep.equal(['tea']);
    await call(host, 'buy', { what: 'bread' });
    expect(await bought()).to.deep.equal(['tea', 'bread']);
  });
});

/** PostgreSQL writes and replaces lines atomically: a crash leaves neither partial lines nor duplicates there. */
describe('the history of tool calls in files', () => {
  let host: TestHost;
  let data: ReturnType<typeof makeFolder>;
  const start = (world?: TestHost) =>
    createTestHost({
      plugins: ['mcp', shop],
      dataDir: data.path,
      driver: openFiles(data.path),
      ...(world === undefined ? {} : { world }),
    });
  beforeEach(async () => {
    data = makeFolder();
    host = await start();
  });
  afterEach(async () => {
    await host[Symbol.asyncDispose]();
    data[Symbol.dispose]();
  });
  const folder = () => join(data.path, 'tools', host.bot.id, host.general.id);

  it('skips a line that a crash has cut off, and loses no later line', async () => {
    await call(host, 'buy', { what: 'milk' });
    await host.stop();
    await appendFile(join(folder(), '2026-01-01-00.jsonl'), '{"call":{"id":"x","na');
    await using again = await start(host);
    await call(again, 'buy', { what: 'bread' });
    const uses = await again.resolve(ToolHistory).recent(host.general.id);
    expect(uses.map(({ call: { input } }) => input.what)).to.deep.equal(['milk', 'bread']);
  });

  it('has every acknowledged call when its process is killed', async () => {
    const numbers = Array.from({ length: 50 }, (_, index) => String(index + 1));
    for (const number of numbers) {
      await call(host, 'buy', { what: number.padEnd(1_000) });
      const { length: acknowledged } = await host.resolve(ToolHistory).recent(host.general.id);
      expect(acknowledged).to.equal(Number(number));
      // Lines that the operating system has got outlive the process.
      const lines = (await readFile(join(folder(), '2026-01-01-00.jsonl'), 'utf8')).trimEnd().split('\n');
      const written = lines.map((line) => JSON.parse(line).call.input.what.trimEnd());
      expect(written).to.deep.equal(numbers.slice(0, acknowledged));
    }
  });

  it('forgets what a crash has left of writing a file anew, too', async () => {
    await call(host, 'buy', { what: 'milk' });
    const file = join(folder(), '2026-01-01-00.jsonl');
    await copyFile(file, `${file}.new`);
    await host.resolve(PersonalDataStore).forget(host.alice.id);
    expect(await readdir(folder())).to.deep.equal([]);
  });
});

describe('the history of tool calls in memory', () => {
  it('holds the newest calls of a channel whose arguments are too long for all of them', async () => {
    using data = makeFolder();
    const files = openFiles(data.path);
    let read = 0;
    const driver = {
      ...files,
      journals(prefix) {
        read += 1;
        return files.journals(prefix);
      },
    } satisfies Driver;
    await using host = await createTestHost({ plugins: ['mcp', shop], dataDir: data.path, driver });
    const buy = (number: number) => call(host, 'buy', { what: `${number} `.padEnd(1_500_000, 'x') });
    const recent = async () =>
      (await host.resolve(ToolHistory).recent(host.general.id, '1')).map(({ call: { input } }) =>
        String(input.what).slice(0, 1),
      );
    for (let number = 1; number <= 3; number += 1) await buy(number);
    expect(await recent()).to.deep.equal(['2', '3']);
    const before = read;
    expect(await recent()).to.deep.equal(['2', '3']);
    expect(read).to.equal(before);
    await buy(4);
    expect(await recent()).to.deep.equal(['3', '4']);
    expect(read).to.equal(before);
  });

  it('measures each call once, not all of a channel with every new one', async () => {
    await using host = await createTestHost({ plugins: ['mcp', shop] });
    const recent = () => host.resolve(ToolHistory).recent(host.general.id);
    await call(host, 'buy', { what: 'milk' });
    const [measured] = await recent();
    if (measured === undefined) throw new Error('the call is not in the history');
    let written = 0;
    const toJSON = () => {
      written += 1;
      return {};
    };
    Object.assign(measured.call.input, { toJSON });
    for (let number = 2; number <= 5; number += 1) await call(host, 'buy', { what: 'milk' });
    const uses = await recent();
    expect(uses).to.have.length(5);
    expect(uses[0]).to.equal(measured);
    expect(written).to.equal(0);
  });
});
