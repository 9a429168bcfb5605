import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { cinnabar } from '../../support/cinnabar.js';
import { makeFolder } from '../../support/folder.js';

describe('the reference pages', () => {
  it('agree with the declarations; otherwise run: npx cinnabar reference docs/reference', async () => {
    using folder = makeFolder();
    expect(await cinnabar(['reference', 'pages'], { cwd: folder.path })).to.include({ code: 0, err: '' });
    const pages = readdirSync(join(folder.path, 'pages'));
    expect(pages).to.include.members(['commands.md', 'settings.md', 'tools.md']);
    for (const name of pages) {
      const isSame =
        readFileSync(join('docs', 'reference', name), 'utf8') ===
        readFileSync(join(folder.path, 'pages', name), 'utf8');
      expect(isSame, `${name} is out of date; run: npx cinnabar reference docs/reference`).to.equal(true);
    }
  });
});
