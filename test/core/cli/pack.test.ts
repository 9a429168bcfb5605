import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { cinnabar } from '../../support/cinnabar.js';
import { type Folder, makeFolder } from '../../support/folder.js';
import { pluginFiles } from '../../support/plugin-package.js';

async function pack({ path }: Folder) {
  const { out, err, code } = await cinnabar(['pack', path, '--quick'], { cwd: path });
  return { out, err, code, file: join(path, 'cinnabar-plugin-dice2-1.0.0.tgz') };
}

const project = (files: readonly string[], more: Readonly<Record<string, string>>) =>
  makeFolder(pluginFiles({ id: 'dice2', packageFile: { files }, files: more }));

describe('cinnabar pack', function () {
  this.timeout(60_000);

  it('makes the file that others install, lists what is in it, and says how to install and publish it', async () => {
    using folder = project(['src'], { 'README.md': '# Dice', 'test/a.test.ts': '' });
    const { out, err, code, file } = await pack(folder);
    expect(code, err).to.equal(0);
    expect(existsSync(file)).to.equal(true);
    expect(out)
      .to.match(/^ {2}README\.md \(0\.0 kB\)$/m)
      .and.to.match(/^ {2}src\/index\.ts \(/m);
    expect(out).to.not.include('a.test.ts');
    expect(out).to.include(`${file}: 3 files, `);
    for (const line of [`cinnabar plugin add ${file}`, `!plugin install ${file}`, `npm publish ${file}`])
      expect(out).to.include(line);
  });

  it('refuses what does not belong into it, and what is missing, each with a sentence', async () => {
    using folder = project(['src', 'test', '.env', 'locales'], {
      '.env': 'KEY=1',
      'src/key.ts': `export const key = 'sk-${'a1'.repeat(12)}';\n`,
      'test/a.test.ts': '',
      'locales/de.json': '{ "Rolls dice": "Würfelt", "Rolls": "Würfelt" }',
    });
    const { err, code, file } = await pack(folder);
    expect(code).to.equal(1);
    expect(existsSync(file)).to.equal(false);
    for (const text of [
      'error: .env would be in it, an environment with its secrets: narrow "files"',
      'error: test/a.test.ts would be in it, a test',
      'error: src/key.ts:1 has what looks like a token or key',
      'error: it has no README: write README.md',
    ])
      expect(err).to.include(text);
  });
});
