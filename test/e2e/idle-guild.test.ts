import { readdirSync } from 'node:fs';
import { createMemoryDriver, createTestHost, type MemoryDriver } from '@cinnabar/core/testing';
import { expect } from 'chai';

const bundled = readdirSync(new URL('../../../plugins', import.meta.url));

describe('a guild in which nothing was set up', () => {
  it('causes no reads of its documents at a start and in the minutes after it, so that a bot in thousands of guilds becomes idle', async () => {
    const memory = createMemoryDriver();
    const read: string[] = [];
    const driver: MemoryDriver = {
      ...memory,
      read(path) {
        read.push(path.join('/'));
        return memory.read(path);
      },
    };
    await using host = await createTestHost({ plugins: bundled, driver });
    await host.settled();
    await host.advance(3 * 60_000);
    expect(read).to.not.deep.equal([]);
    expect(read.filter((path) => path.includes(host.guild.id))).to.deep.equal([]);
  });
});
