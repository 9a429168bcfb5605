import { postAt } from '@cinnabar/plugin-relay/dist/delivery/notices.js';
import { createManualClock } from '@cinnabar/sdk/testing';
import { expect } from 'chai';
import { nightCity } from '../../../sdk/local-discord/support.js';
import { event } from '../queue/harness.js';

describe('relay: what the bot says for an agent', () => {
  it('is posted once, also with a process that starts long after the one that posted it', async () => {
    const clock = createManualClock();
    const city = await nightCity({ clock });
    try {
      const asked = city.alice.say(city.general, 'Hello?');
      const known = event('message:1', 'a/1');
      const facts = { ...known.facts, messageId: asked.id, at: clock.now() };
      const answered = { ...known, channelId: city.general.id, userId: city.alice.id, facts };
      const say = async () => postAt(answered, 'Here I am.', 'batch-1', { client: await city.login(), clock });
      const first = await say();
      clock.advance(10 * 60_000);
      expect(await say()).to.deep.equal(first);
      expect(city.general.messages.map(({ content }) => content)).to.deep.equal(['Hello?', 'Here I am.']);
    } finally {
      await city.close();
    }
  });
});
