import { expect } from 'chai';
import { prefixLength } from '../support/harness.js';

const BOT = '900000000000000001';

describe('the prefix test', () => {
  it('finds none in ordinary talk', () => {
    expect(prefixLength('hello everyone!', ['!'], BOT)).to.equal(0);
    expect(prefixLength('', ['!'], BOT)).to.equal(0);
  });

  it('takes the longest of several prefixes, whatever their order', () => {
    expect(prefixLength('!!roll', ['!', '!!', '?'], BOT)).to.equal(2);
    expect(prefixLength('!!roll', ['!!', '!'], BOT)).to.equal(2);
    expect(prefixLength('!roll', ['!!', '!'], BOT)).to.equal(1);
  });

  it('takes a mention of the bot, in both its forms', () => {
    expect(prefixLength(`<@${BOT}> roll`, ['!'], BOT)).to.equal(BOT.length + 3);
    expect(prefixLength(`<@!${BOT}>roll`, [], BOT)).to.equal(BOT.length + 4);
  });

  it('does not accept a mention of another user, or of one whose id begins like the bot’s', () => {
    expect(prefixLength('<@900000000000000002> roll', ['!'], BOT)).to.equal(0);
    expect(prefixLength(`<@${BOT}5> roll`, ['!'], BOT)).to.equal(0);
    expect(prefixLength(`<@&${BOT}> roll`, ['!'], BOT)).to.equal(0);
  });
});
