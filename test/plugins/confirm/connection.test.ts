import { expect } from 'chai';
import { type Harness, inTime, openHarness } from './harness.js';

/** The bot's next matching message or edit, independent of the duration of its reconnection. */
const comes = ({ host }: Harness, content: RegExp) =>
  inTime(host, host.discord.expectMessage({ author: host.bot, content }));

/** The connection is lost; while it is, the requester presses 👍 and time passes. */
async function pressWhileAway({ host, call, latest }: Harness, { seconds, lost }: { seconds: number; lost: boolean }) {
  await call(host.alice, { what: 'milk' });
  const { gateway } = host.discord.faults;
  gateway.refuseResume = lost;
  const down = new Promise((resolve) => host.client.once('shardReconnecting', resolve));
  gateway.refuseConnections = 2;
  gateway.dropSockets();
  await down;
  host.alice.react(latest(), '👍');
  host.clock.advance(seconds * 1_000);
}

describe('a press while the bot is disconnected from Discord', () => {
  for (const lost of [false, true]) {
    const session = lost ? 'lost' : 'resumed';
    it(`counts while there is time, when the session is ${session}`, async () => {
      await using harness = await openHarness();
      await pressWhileAway(harness, { seconds: 1, lost });
      await comes(harness, /^✓ Did milk\.\n/);
      expect(harness.runs).to.have.length(1);
    });

    it(`is not said to have timed out when the bot learns of it too late, and the session is ${session}`, async () => {
      await using harness = await openHarness();
      await pressWhileAway(harness, { seconds: 90, lost });
      await comes(harness, /🔁 Not run: I was cut off from Discord and saw your 👍 too late\. Please ask again\.$/);
      expect(harness.runs).to.deep.equal([]);
    });
  }
});
