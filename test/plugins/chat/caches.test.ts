import { existsSync, readdirSync, readFileSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createTestHost, type TestHost } from '@cinnabar/core/testing';
import { say, scriptedLlm } from '@cinnabar/local-models';
import { SettingsCatalog } from '@cinnabar/sdk';
import { expect } from 'chai';

const picture = (bytes: number) =>
  Buffer.concat([Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]), Buffer.alloc(bytes - 8)]);

async function open(settings: Readonly<Record<string, number>> = {}) {
  const llm = scriptedLlm(() => say('Fine.'));
  const host = await createTestHost({ plugins: ['ai', 'chat', llm], settings: { chat: settings } });
  const folder = join(host.dataDir, 'cache', 'images');
  return {
    host,
    /** @returns the pictures in the request to the model, as base64 */
    async ask() {
      host.alice.say(host.general, '!ai Well?');
      await host.settled();
      const blocks = llm.requests.at(-1)?.messages.flatMap(({ content }) => content) ?? [];
      return blocks.flatMap((block) => (block.type === 'image' ? [block.source.data] : []));
    },
    show: (bytes: number) =>
      host.bob.say(host.general, 'Look', {
        files: [{ name: 'map.png', data: picture(bytes), contentType: 'image/png' }],
      }),
    images: () => readdirSync(folder).map((name) => join(folder, name)),
    [Symbol.asyncDispose]: () => host[Symbol.asyncDispose](),
  };
}

describe('chat: its caches', () => {
  it('keep images in the folder of the caches, which `CACHE_PATH` moves, and not below the data', async () => {
    await using bot = await open();
    bot.show(100);
    await bot.ask();
    expect(bot.images()).to.have.length(1);
    expect(existsSync(join(bot.host.dataDir, 'images'))).to.equal(false);
  });

  it('keep as many images as the bot owner wants, the latest', async () => {
    await using bot = await open({ imageCacheMegabytes: 1 });
    bot.show(600_000);
    await bot.ask();
    const before = bot.images();
    await bot.host.advance(1_000);
    bot.show(600_000);
    await bot.ask();
    expect([before.length, bot.images().length]).to.deep.equal([1, 1]);
    expect(bot.images()).to.not.deep.equal(before);
  });

  it('keep images as long as the bot owner wants, then they are fetched again', async () => {
    await using bot = await open({ imageCacheHours: 1 });
    bot.show(100);
    const [original] = await bot.ask();
    const [path = ''] = bot.images();
    const { atime, mtime } = statSync(path);
    const stored = readFileSync(path);
    stored[stored.length - 1] = 1;
    writeFileSync(path, stored);
    utimesSync(path, atime, mtime);
    expect(await bot.ask()).to.deep.equal([stored.toString('base64')]);
    await bot.host.advance(50 * 60_000);
    expect(await bot.ask()).to.deep.equal([stored.toString('base64')]);
    await bot.host.advance(11 * 60_000);
    expect(await bot.ask()).to.deep.equal([original]);
  });

  it('hold as much history in memory as the bot owner wants', async () => {
    const pages = ({ discord }: TestHost) => discord.requests.of('GET', '/channels/:channelId/messages').length;
    const readAgain = async (settings: Readonly<Record<string, number>>) => {
      await using bot = await open(settings);
      const { host, ask } = bot;
      await ask();
      for (let n = 0; n < 100; n += 1) host.bob.say(host.general, 'x'.repeat(1_500));
      await ask();
      const before = pages(host);
      await ask();
      return pages(host) - before;
    };
    expect(await readAgain({})).to.equal(0);
    expect(await readAgain({ historyCacheMegabytes: 1 })).to.be.above(0);
  });

  it('have 500 MB of images for a day, and 64 MB, 100,000 messages and 200 channels of history by default', async () => {
    await using bot = await open();
    const { you, guild, general } = bot.host;
    const actor = { userId: you.id, guildId: guild.id, channelId: general.id };
    const described = await bot.host.resolve(SettingsCatalog).describe('chat', actor);
    const caches = described.filter(({ key }) => key.includes('Cache')).map(({ key, value }) => [key, value]);
    expect(Object.fromEntries(caches)).to.deep.equal({
      imageCacheMegabytes: 500,
      imageCacheHours: 24,
      historyCacheMegabytes: 64,
      historyCacheMessages: 100_000,
      historyCacheChannels: 200,
    });
  });
});
