import { isOlder, isPrivateAddress } from '@cinnabar/plugin-relay/dist/letta/client.js';
import { expect } from 'chai';
import { startLetta } from './harness.js';

describe('relay: the version of a Letta server', () => {
  it('is what the server says', async () => {
    await using world = await startLetta({ version: '0.16.6' });
    expect(await world.agents.version()).to.equal('0.16.6');
  });

  it('is not known when the server says something else', async () => {
    await using world = await startLetta({ version: 'next' });
    expect(await world.agents.version()).to.equal(undefined);
  });

  it('is older than another by its numbers', () => {
    expect(isOlder('0.9.12', '0.16.7')).to.equal(true);
    expect(isOlder('0.16.7', '0.16.7')).to.equal(false);
    expect(isOlder('1.0.0', '0.16.7')).to.equal(false);
  });
});

describe('relay: an address of the tools', () => {
  for (const [url, isPrivate] of [
    ['http://127.0.0.1:8808/mcp', true],
    ['http://localhost:8808/mcp', true],
    ['http://192.168.1.4/mcp', true],
    ['http://[fd00::1]:8808/mcp', true],
    ['http://bot.svc.cluster.local/mcp', true],
    ['https://bot.example.org/mcp', false],
    ['https://8.8.8.8/mcp', false],
  ] as const) {
    it(`${url} is ${isPrivate ? 'private' : 'public'}`, () => {
      expect(isPrivateAddress(url)).to.equal(isPrivate);
    });
  }
});
