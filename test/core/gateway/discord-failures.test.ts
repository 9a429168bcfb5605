import { createTestHost } from '@cinnabar/core/testing';
import { definePlugin } from '@cinnabar/sdk';
import { expect } from 'chai';
import { requestsOf, watchedForFailures } from './harness.js';

/** A plugin whose handler does what its message says, and throws the resulting error. */
function failing(heard: string[]) {
  return definePlugin({
    manifest: {
      id: 'flaky',
      version: '1.0.0',
      description: 'Fails',
      intents: ['GuildMessages', 'MessageContent'],
    },
    setup({ on }) {
      on('messageCreate', async ({ content, channel, author }) => {
        if (author.bot) return;
        heard.push(content);
        if (content === 'speak' && channel.isSendable()) await channel.send('Hello');
        if (content === 'call') await fetch('http://127.0.0.2:9/');
      });
    },
  });
}

describe('a plugin whose requests fail', () => {
  const twelveTimes = async (text: string, prepare: (host: Awaited<ReturnType<typeof createTestHost>>) => void) => {
    const heard: string[] = [];
    await using host = await createTestHost({ plugins: [failing(heard)] });
    prepare(host);
    for (let time = 0; time < 12; time++) {
      host.alice.say(host.general, text);
      await host.settled();
    }
    return heard.length;
  };
  const times = Number.POSITIVE_INFINITY;

  it('is not suspended for the failures of Discord: 5xx, and requests without an answer', async () => {
    expect(
      await twelveTimes('speak', ({ discord }) => discord.faults.rest.fail(503, { method: 'POST', times })),
    ).to.equal(12);
    expect(await twelveTimes('speak', ({ discord }) => discord.faults.rest.drop({ method: 'POST', times }))).to.equal(
      12,
    );
  });

  it('is suspended for failures of its own, such as refusals and other servers that are away', async () => {
    expect(
      await twelveTimes('speak', ({ discord }) => discord.faults.rest.fail(403, { method: 'POST', times })),
    ).to.equal(10);
    expect(await twelveTimes('call', () => undefined)).to.equal(10);
  });
});

describe('a request to Discord', () => {
  it('that times out while it waits for its turn is no failure of the plugin', async () => {
    const { request, isFailureOfDiscord } = watchedForFailures(requestsOf(1, async () => new Response()).request);
    const url = 'https://discord.com/api/v10/channels/1/messages';
    await request(url, {});
    const waiting = new AbortController();
    const second = request(url, { signal: waiting.signal }).catch((error: unknown) => error);
    waiting.abort();
    expect(isFailureOfDiscord(await second)).to.equal(true);
  });
});
