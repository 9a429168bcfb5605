import { expect } from 'chai';
import { meaningOfClose } from './harness.js';

const FATAL: readonly (readonly [code: number, remedy: RegExp])[] = [
  [4004, /token is not valid\. Check DISCORD_TOKEN/],
  [4010, /does not know this shard\. Start again/],
  [4011, /too many servers for its number of shards\. Start again/],
  [4012, /Update Cinnabar/],
  [4013, /does not know one of these intents: Guilds, MessageContent\. .*disable the plugin/],
  [4014, /not approved for all of these intents: Guilds, MessageContent\. .*Developer Portal/],
];

describe('a close code of the gateway', () => {
  for (const [code, remedy] of FATAL) {
    it(`${code} admits no other attempt, and comes with what to do`, () => {
      expect(meaningOfClose(code, ['Guilds', 'MessageContent']).advice).to.match(remedy);
    });
  }

  it('of any other kind is waited out', () => {
    const others = [1000, 1001, 1006, 1011, 1012, 4000, 4001, 4002, 4003, 4005, 4007, 4008, 4009, 4200, 4999];
    expect(others.filter((code) => meaningOfClose(code).advice !== undefined)).to.deep.equal([]);
  });

  it('keeps the session, but for those that end it', () => {
    const codes = [1000, 1001, 1006, 4000, 4001, 4002, 4003, 4005, 4007, 4008, 4009];
    expect(codes.filter((code) => meaningOfClose(code).isSessionOver)).to.deep.equal([4003, 4007, 4009]);
  });
});
