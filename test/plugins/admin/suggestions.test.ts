import { createTestHost, type TestHost } from '@cinnabar/core/testing';
import type { LocalUser } from '@cinnabar/local-discord';
import { expect } from 'chai';
import { answering } from './town.js';

describe('admin: commands that do not exist', () => {
  let host: TestHost;
  let say: (user: LocalUser, text: string) => Promise<string>;

  before(async () => {
    host = await createTestHost({ plugins: ['admin'] });
    say = answering(host);
  });
  // Past the limit of suggestions.
  afterEach(() => host.advance(61_000));
  after(() => host[Symbol.asyncDispose]());

  const KNOWN_IN_RED = [
    ['!cogs', '`!plugin list`'],
    ['!load audio', '`!plugin load`'],
    ['!permissions explain @someone', '`!access explain`'],
    ['!permissions', '`!access list`'],
    ['!localblocklist add', '`!block add`'],
    ['!blocklst', '`!blocklist`'],
    ['!whitelist add', '`!allowlist add`'],
    ['!uptime', '`!bot uptime`'],
  ] as const;
  it('get the name that they have here, for those who know Red', async () => {
    for (const [typed, meant] of KNOWN_IN_RED) {
      expect(await say(host.you, typed), typed).to.include(`Did you mean ${meant}?`);
      await host.advance(61_000);
    }
    expect(await say(host.you, '!set prefix ?')).to.include('Did you mean `prefix add`?');
    expect(await say(host.you, '!set nickname Max')).to.include('Did you mean `bot nick`?');
  });

  it('get no answer where the member may not use what is meant, nor as ordinary text, prices or code', async () => {
    expect(await say(host.alice, '!load audio')).to.equal('');
    for (const text of ['!5', '!100 eddies', '!important;', '!= null', '!!', '!(a || b)', '!banana', '!constructor'])
      expect(await say(host.you, text), text).to.equal('');
  });

  it('get a few answers in a minute, and none where that is switched off', async () => {
    for (let n = 0; n < 5; n += 1) expect(await say(host.you, '!cogs')).to.include('Did you mean');
    expect(await say(host.you, '!cogs')).to.equal('');
    await host.advance(61_000);
    await say(host.you, '!set admin suggestions off');
    expect(await say(host.you, '!cogs')).to.equal('');
    await say(host.you, '!unset admin suggestions');
    expect(await say(host.you, '!cogs')).to.include('Did you mean');
  });
});
