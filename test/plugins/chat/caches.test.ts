import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { createTestHost } from '@cinnabar/core/testing';
import { say, scriptedLlm } from '@cinnabar/local-models';
import { cacheSettings, historyLimitsOf, imageLimitsOf } from '@cinnabar/plugin-chat/dist/config/guild-settings.js';
import { IMAGE_LIMITS } from '@cinnabar/plugin-chat/dist/history/attachment-cache.js';
import { LOG_LIMITS } from '@cinnabar/plugin-chat/dist/history/logs.js';
import { expect } from 'chai';

const PNG = Buffer.concat([Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]), Buffer.alloc(92)]);

describe('chat: its caches', () => {
  it('keep images in the folder of the caches, which `CACHE_PATH` moves, and not below the data', async () => {
    const llm = scriptedLlm([say('Fine.')]);
    await using host = await createTestHost({ plugins: ['ai', 'chat', llm] });
    host.bob.say(host.general, 'Look', { files: [{ name: 'map.png', data: PNG, contentType: 'image/png' }] });
    host.alice.say(host.general, '!ai Well?');
    await host.settled();
    expect(readdirSync(join(host.dataDir, 'cache', 'images'))).to.have.length(1);
    expect(existsSync(join(host.dataDir, 'images'))).to.equal(false);
  });

  it('have sizes and ages that the bot owner sets', () => {
    const settings = cacheSettings.parse({ imageCacheMegabytes: 2, imageCacheHours: 1, historyCacheMegabytes: 8 });
    expect(imageLimitsOf(settings)).to.include({ maxTotalBytes: 2_000_000, maxAgeMs: 3_600_000 });
    expect(historyLimitsOf(settings)).to.deep.include({ channelBytes: 1_000_000 });
    expect(imageLimitsOf(cacheSettings.parse({}))).to.deep.equal(IMAGE_LIMITS);
    expect(historyLimitsOf(cacheSettings.parse({}))).to.deep.equal(LOG_LIMITS);
  });
});
