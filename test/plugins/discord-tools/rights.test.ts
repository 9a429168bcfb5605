import { Tools } from '@cinnabar/sdk';
import { expect } from 'chai';
import { type Bench, openBench } from './bench.js';
import { CALLS } from './calls.js';
import { makeThings } from './things.js';

describe('discord-tools: who may use what', () => {
  let bench: Bench;
  before(async () => {
    bench = await openBench();
  });
  after(() => bench[Symbol.asyncDispose]());

  it('covers every tool', () => {
    const names = bench.host
      .resolve(Tools)
      .list()
      .map(({ name }) => name);
    expect(names).to.have.members(Object.keys(CALLS));
  });

  for (const [tool, { plain, input }] of Object.entries(CALLS)) {
    it(`${tool}: ${plain ? 'every member' : 'moderators'}, and nobody from elsewhere`, async () => {
      const things = await makeThings(bench);
      const { alice, mod, stranger } = bench;

      expect((await bench.call(stranger, tool, input(things))).status, 'a stranger').to.equal('denied');
      const asPlain = await bench.call(alice, tool, input(things));
      if (plain) expect(asPlain.status, asPlain.text).to.equal('done');
      else expect(asPlain.status, 'a plain member').to.not.equal('done');
      const asModerator = await bench.call(mod, tool, input(things));
      expect(asModerator.status, asModerator.text).to.equal('done');
    });
  }
});
