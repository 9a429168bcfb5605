import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createDiscovery } from '@cinnabar/core';
import { referencePages } from '@cinnabar/core/internal/cli/reference';
import { loadAll } from '@cinnabar/core/internal/cli/schema';
import { expect } from 'chai';
import { makeFolder } from '../../support/folder.js';

describe('the reference pages', () => {
  it('are those of the declarations; when they are not: npx cinnabar reference docs/reference', async () => {
    using folder = makeFolder();
    const { plugins, problems } = await loadAll(createDiscovery({ folders: [], packageRoots: [] }), folder.path);
    expect(problems).to.deep.equal([]);
    const pages = await referencePages(plugins);
    expect([...pages.keys()]).to.include.members(['commands.md', 'settings.md', 'tools.md']);
    for (const [name, text] of pages) {
      const isSame = readFileSync(join('docs', 'reference', name), 'utf8') === text;
      expect(isSame, `${name} is out of date; run: npx cinnabar reference docs/reference`).to.equal(true);
    }
  });
});
