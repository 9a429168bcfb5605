import type { LookupAddress } from 'node:dns';
import { isPublicAddress, literalAddressOf, publicLookup, UserError } from '@cinnabar/sdk';
import { expect } from 'chai';

/** The first and the last address of each special network, and the adjacent public addresses. */
const SPECIAL: readonly (readonly [network: string, special: readonly string[], beside: readonly string[]])[] = [
  ['this network', ['0.0.0.0', '0.255.255.255'], ['1.0.0.0']],
  ['private', ['10.0.0.0', '10.255.255.255'], ['9.255.255.255', '11.0.0.0']],
  ['private', ['172.16.0.0', '172.31.255.255'], ['172.15.255.255', '172.32.0.0']],
  ['private', ['192.168.0.0', '192.168.255.255'], ['192.167.255.255', '192.169.0.0']],
  ['of a provider', ['100.64.0.0', '100.127.255.255'], ['100.63.255.255', '100.128.0.0']],
  ['loopback', ['127.0.0.1', '127.255.255.255'], ['126.255.255.255', '128.0.0.0']],
  ['link-local', ['169.254.0.0', '169.254.169.254'], ['169.253.255.255', '169.255.0.0']],
  ['protocol assignments', ['192.0.0.0', '192.0.0.255'], ['191.255.255.255', '192.0.1.0']],
  ['documentation', ['192.0.2.1', '198.51.100.1', '203.0.113.255'], ['192.0.3.0', '198.51.99.255', '203.0.114.0']],
  ['AS112 and AMT', ['192.31.196.1', '192.52.193.1', '192.175.48.1'], ['192.31.197.0', '192.175.47.255']],
  ['6to4 relays', ['192.88.99.1'], ['192.88.98.255']],
  ['benchmarks', ['198.18.0.0', '198.19.255.255'], ['198.17.255.255', '198.20.0.0']],
  ['multicast, reserved, broadcast', ['224.0.0.1', '240.0.0.1', '255.255.255.255'], ['223.255.255.255']],
  [
    'IPv6 of this machine or its networks',
    ['::', '::1', 'fe80::1', 'fe80::1%eth0', 'fc00::1', 'fdff::1', 'fec0::1'],
    [],
  ],
  ['IPv4 in IPv6', ['::ffff:8.8.8.8', '::8.8.8.8', '64:ff9b::808:808', '64:ff9b:1::1', '2002:808:808::'], ['2003::1']],
  ['Teredo, ORCHID, benchmarks', ['2001::1', '2001:20::1', '2001:1ff:ffff::'], ['2001:200::1', '2000::1']],
  ['IPv6 documentation', ['2001:db8::1', '3fff::1', '3fff:fff:ffff::'], ['2001:db9::1', '3fff:1000::1']],
  ['IPv6 multicast, discard-only, AS112', ['ff02::1', '100::1', '2620:4f:8000::1'], ['2620:4f:8001::1', '2a00::1']],
];

describe('sdk: a public address', () => {
  for (const [network, special, beside] of SPECIAL) {
    it(`is none of those for special use: ${network}, ${special[0]}`, () => {
      expect(special.filter(isPublicAddress)).to.deep.equal([]);
      expect(beside.filter((address) => !isPublicAddress(address))).to.deep.equal([]);
    });
  }

  it('is an address and nothing else', () => {
    for (const text of ['', 'example.org', '8.8.8', '8.8.8.8:80', '010.8.8.8', '[2a00::1]'])
      expect(isPublicAddress(text), text).to.equal(false);
  });

  it('is found in a URL in whatever form it is written there', () => {
    const literals = ['http://2130706433/', 'http://0x7f.1/', 'http://127.1:8080/a', 'https://[2A00:0::1]/'];
    expect(literals.map((url) => literalAddressOf(new URL(url)))).to.deep.equal([
      ...Array.from({ length: 3 }, () => '127.0.0.1'),
      '2a00::1',
    ]);
    expect(literalAddressOf(new URL('https://one.one/'))).to.equal(undefined);
  });
});

describe('sdk: the look-up of public addresses', () => {
  const looked = (found: readonly string[], all: boolean) =>
    new Promise((resolve) => {
      const lookup = publicLookup({
        resolve: async (): Promise<readonly LookupAddress[]> => {
          if (found.length === 0) throw new Error('ENOTFOUND');
          return found.map((address) => ({ address, family: address.includes(':') ? 6 : 4 }));
        },
      });
      lookup('site.example', { all }, (error, address) => resolve(error ?? address));
    });

  it('gives the addresses of a name in the form that is asked for', async () => {
    expect(await looked(['8.8.8.8', '2a00::1'], false)).to.equal('8.8.8.8');
    expect(await looked(['8.8.8.8', '2a00::1'], true)).to.deep.equal([
      { address: '8.8.8.8', family: 4 },
      { address: '2a00::1', family: 6 },
    ]);
  });

  it('refuses a name of which one address is not public, and one that is not found', async () => {
    expect(await looked(['8.8.8.8', '10.0.0.1'], true)).to.be.instanceOf(UserError);
    expect(await looked(['::1'], false)).to.be.instanceOf(UserError);
    expect(await looked([], false)).to.be.instanceOf(Error);
  });
});
