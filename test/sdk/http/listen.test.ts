import { isAllowedSource, isLoopback, parseListen, urlOf } from '@cinnabar/sdk';
import { expect } from 'chai';

describe('the address of a server', () => {
  it('listens on this machine alone unless a host is named', () => {
    expect(parseListen('8808')).to.deep.equal({ host: '127.0.0.1', port: 8808 });
    expect(parseListen('0.0.0.0:80')).to.deep.equal({ host: '0.0.0.0', port: 80 });
    expect(parseListen('[::1]:80')).to.deep.equal({ host: '::1', port: 80 });
    expect(parseListen('off')).to.equal('off');
    for (const wrong of ['localhost', '99999', 'a b:1', 'http://x:1']) expect(parseListen(wrong)).to.equal(undefined);
  });

  it("answers to the machine's own names, and to those that it was given", () => {
    const allowed = { hosts: ['bot.example.org'], origins: [] };
    for (const host of ['localhost:1', '127.0.0.1:1', '[::1]:1', 'BOT.example.org']) {
      expect(isAllowedSource({ host }, allowed), host).to.equal(true);
    }
    for (const host of ['evil.example', 'localhost.evil.example', '127.0.0.1@evil.example', '']) {
      expect(isAllowedSource({ host }, allowed), host).to.equal(false);
    }
    expect(isAllowedSource({ host: 'localhost', origin: 'null' }, allowed)).to.equal(false);
  });

  it('knows which addresses only this machine can reach', () => {
    for (const host of ['127.0.0.1', '127.3.2.1', '::1', 'localhost'])
      expect(isLoopback({ host, port: 1 })).to.equal(true);
    for (const host of ['0.0.0.0', '::', '10.0.0.1', '127.evil.example', 'bot']) {
      expect(isLoopback({ host, port: 1 }), host).to.equal(false);
    }
  });

  it('is written as a URL, with the port that the system chose', () => {
    expect(urlOf({ host: '127.0.0.1', port: 0 }, 4242)).to.equal('http://127.0.0.1:4242');
    expect(urlOf({ host: '::1', port: 80 }, 80)).to.equal('http://[::1]:80');
  });
});
