import { harmless } from '@cinnabar/core/internal/cli/harmless';
import { expect } from 'chai';

describe('text of others on the terminal', () => {
  it('does not steer it: a tarball’s path cannot wipe the line that says why it is refused', () => {
    expect(harmless('has a path that leads out of it: ../\u001b[2K\rall is well')).to.equal(
      'has a path that leads out of it: ../‹U+001B›[2K‹U+000D›all is well',
    );
    expect(harmless('reads\u202E nothing')).to.equal('reads‹U+202E› nothing');
  });

  it('keeps its lines, its indentation and its emoji', () => {
    const text = 'Error: no dice\n\tat roll 👩‍👩‍👧';
    expect(harmless(text)).to.equal(text);
  });
});
