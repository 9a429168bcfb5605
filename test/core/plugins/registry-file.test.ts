import { readFileSync } from 'node:fs';
import { expect } from 'chai';
import { registryKeys } from '../../docs/support/data.js';
import { cinnabar } from '../../support/cinnabar.js';
import { makeFolder } from '../../support/folder.js';

describe('a registry file', () => {
  it('is as its page shows one, and has the keys that the page explains', async () => {
    const page = readFileSync('docs/authors/registry-file.md', 'utf8');
    const [, example = ''] = /```json\n([\s\S]*?)```/.exec(page) ?? [];
    using folder = makeFolder({
      'list.json': example,
      'config/shared.yaml': 'host:\n  plugins:\n    registries: [list.json]\n',
    });
    const { code, out, err } = await cinnabar(['plugin', 'search'], { cwd: folder.path, env: {} });
    expect({ code, err }).to.deep.equal({ code: 0, err: '' });
    for (const { id, description } of JSON.parse(example).plugins)
      expect(out).to.include(`${id} `).and.include(description);
    for (const key of registryKeys())
      expect(page.includes(`${key}\``) || page.includes(`${key}[]`), key).to.equal(true);
  });
});
