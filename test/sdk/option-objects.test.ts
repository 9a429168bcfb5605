import { defined } from '@cinnabar/sdk';
import { expect } from 'chai';

describe('sdk: defined', () => {
  it('keeps every property but the undefined ones', () => {
    const topic: string | undefined = undefined;
    expect(defined({ name: '', topic, position: 0, parent: null, nsfw: false })).to.deep.equal({
      name: '',
      position: 0,
      parent: null,
      nsfw: false,
    });
  });
});
