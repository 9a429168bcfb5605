import { prefixEnd } from '@cinnabar/core/internal/commands/arguments';
import { expect } from 'chai';

const BOT = '900000000000000001';

describe('the prefix test', () => {
  it('finds none in ordinary talk', () => {
    expect(prefixEnd('hello everyone!', ['!'], BOT)).to.equal(0);
    expect(prefixEnd('', ['!'], BOT)).to.equal(0);
  });

  it('takes the longest of several prefixes, whatever their order', () => {
    expect(prefixEnd('!!roll', ['!', '!!', '?'], BOT)).to.equal(2);
    expect(prefixEnd('!!roll', ['!!', '!'], BOT)).to.equal(2);
    expect(prefixEnd('!roll', ['!!', '!'], BOT)).to.equal(1);
  });

  it('takes a mention of the bot, in both its forms', () => {
    expect(prefixEnd(`<@${BOT}> roll`, ['!'], BOT)).to.equal(BOT.length + 3);
    expect(prefixEnd(`<@!${BOT}>roll`, [], BOT)).to.equal(BOT.length + 4);
  });

  it('does not take a mention of somebody else, or of somebody whose id begins like the bot’s', () => {
    expect(prefixEnd('<@900000000000000002> roll', ['!'], BOT)).to.equal(0);
    expect(prefixEnd(`<@${BOT}5> roll`, ['!'], BOT)).to.equal(0);
    expect(prefixEnd(`<@&${BOT}> roll`, ['!'], BOT)).to.equal(0);
  });
});
