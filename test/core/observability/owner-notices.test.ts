import { readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createTestHost } from '@cinnabar/core/testing';
import { Plugins } from '@cinnabar/sdk';
import { expect } from 'chai';
import { ownerOf } from '../../support/owners.js';

describe("notices to the bot's owner", () => {
  it('tell of a damaged document, which stops nothing', async () => {
    const { plugin } = ownerOf('quiet');
    await using first = await createTestHost({ plugins: [plugin] });
    const { dataDir, guild } = first;
    await first.resolve(Plugins).disable(guild.id, 'quiet');
    await first.stop();
    const files = readdirSync(join(dataDir, 'documents'), { recursive: true, encoding: 'utf8' });
    const [file] = files.filter((name) => name.endsWith(`${guild.id}.json`));
    expect(file, files.join('\n')).to.be.a('string');
    writeFileSync(join(dataDir, 'documents', file ?? ''), '{"version": 1, "da');

    await using second = await createTestHost({ plugins: [plugin], world: first, dataDir });
    expect(second.resolve(Plugins).enabledIn(guild.id, 'quiet')).to.equal(false);
    await second.advance(5_000);
    const notice = await second.discord.expectMessage({ author: second.bot, content: /was damaged/ });
    expect(notice.channel.recipients).to.include(second.you);
  });
});
