import { expect } from 'chai';
import { cinnabar } from '../../support/cinnabar.js';
import { makeFolder } from '../../support/folder.js';

describe('text of others on the terminal', () => {
  const sayAbout = async (name: string) => {
    using folder = makeFolder();
    return (await cinnabar(['restore', name], { cwd: folder.path, env: { CINNABAR_DATA: 'data' } })).err;
  };

  it('does not steer it: a file’s name cannot wipe the line that says why it is refused', async () => {
    expect(await sayAbout('\u001b[2K\rall is well')).to.include('‹U+001B›[2K‹U+000D›all is well cannot be read');
    expect(await sayAbout('reads\u202E nothing')).to.include('reads‹U+202E› nothing cannot be read');
  });

  it('keeps its lines, its indentation and its emoji', async () => {
    const name = 'no dice\n\tat roll 👩‍👩‍👧';
    expect(await sayAbout(name)).to.include(`${name} cannot be read`);
  });
});
