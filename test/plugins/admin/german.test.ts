import { createTestHost, type TestHost } from '@cinnabar/core/testing';
import type { LocalUser } from '@cinnabar/local-discord';
import { expect } from 'chai';

describe('administration in German', () => {
  let host: TestHost;
  const say = async (user: LocalUser, text: string) => {
    user.say(host.general, text);
    await host.settled();
    return host.general.messages.at(-1)?.content ?? '';
  };
  before(async () => {
    host = await createTestHost({ plugins: ['admin', 'party'] });
    await say(host.alice, '!language me de');
    await say(host.you, '!language me de');
  });
  after(() => host[Symbol.asyncDispose]());

  it('says why a member is refused', async () => {
    expect(await say(host.alice, '!plugin disable party')).to.equal(
      'Das darfst du nicht: du musst hier mindestens ein Admin sein, und du bist ein gewöhnliches Mitglied',
    );
  });
});
