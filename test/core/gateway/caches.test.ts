import { dropIdleDirectMessages } from '@cinnabar/core/internal/gateway/client';
import { createTestHost } from '@cinnabar/core/testing';
import { expect } from 'chai';

const DAY_MS = 24 * 3_600_000;

describe('what discord.js remembers', () => {
  it('is a hundred messages of a channel', async () => {
    await using host = await createTestHost({ plugins: ['ai'] });
    for (let number = 0; number < 150; number += 1) host.alice.say(host.general, `message ${number}`);
    await host.settled();
    const channel = host.client.channels.cache.get(host.general.id);
    expect(channel?.isTextBased() === true ? channel.messages.cache.size : undefined).to.equal(100);
  });

  it('is no direct message channel that has been idle for a day, when there are many; it comes back with the next message', async () => {
    await using host = await createTestHost({ plugins: ['ai'] });
    const dm = host.alice.openDm(host.application);
    host.alice.say(dm, 'hello');
    await host.settled();
    const now = host.clock.now();
    dropIdleDirectMessages(host.client, now + 2 * DAY_MS);
    dropIdleDirectMessages(host.client, now, 0);
    expect(host.client.channels.cache.has(dm.id)).to.equal(true);
    dropIdleDirectMessages(host.client, now + 2 * DAY_MS, 0);
    expect(host.client.channels.cache.has(dm.id)).to.equal(false);
    host.alice.say(dm, 'hello again');
    await host.settled();
    expect(host.client.channels.cache.has(dm.id)).to.equal(true);
  });
});
