import { Tools } from '@cinnabar/sdk';
import { expect } from 'chai';
import { CALLS } from './calls.js';
import { type Harness, openToolsHarness } from './harness.js';
import { makeThings } from './things.js';

describe('discord-tools: who may use what', () => {
  let harness: Harness;
  before(async () => {
    harness = await openToolsHarness();
  });
  after(() => harness[Symbol.asyncDispose]());

  it('covers every tool', () => {
    const names = harness.host
      .resolve(Tools)
      .list()
      .map(({ name }) => name);
    expect(names).to.have.members(Object.keys(CALLS));
  });

  for (const [tool, { plain, input }] of Object.entries(CALLS)) {
    it(`${tool}: ${plain ? 'every member' : 'moderators'}, and nobody from elsewhere`, async () => {
      const things = await makeThings(harness);
      const { alice, mod, stranger } = harness;

      expect((await harness.call(stranger, tool, input(things))).status, 'a stranger').to.equal('denied');
      const asPlain = await harness.call(alice, tool, input(things));
      if (plain) expect(asPlain.status, asPlain.text).to.equal('done');
      else expect(asPlain.status, 'a plain member').to.not.equal('done');
      const asModerator = await harness.call(mod, tool, input(things));
      expect(asModerator.status, asModerator.text).to.equal('done');
    });
  }
});
