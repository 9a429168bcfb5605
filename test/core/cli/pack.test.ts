import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';
import { type Folder, makeFolder } from '../../support/folder.js';
import { pluginFiles } from '../../support/plugin-package.js';

const MAIN = fileURLToPath(import.meta.resolve('@cinnabar/core/internal/cli/main'));

function pack({ path }: Folder) {
  const args = [MAIN, 'pack', path, '--quick'];
  const { stdout, stderr, status } = spawnSync(process.execPath, args, { encoding: 'utf8', timeout: 60_000 });
  return { stdout, stderr, status, file: join(path, 'cinnabar-plugin-dice2-1.0.0.tgz') };
}

const project = (files: readonly string[], more: Readonly<Record<string, string>>) =>
  makeFolder(pluginFiles({ id: 'dice2', packageFile: { files }, files: more }));

describe('cinnabar pack', function () {
  this.timeout(60_000);

  it('makes the file that others install, lists what is in it, and says how to install and publish it', () => {
    using folder = project(['src'], { 'README.md': '# Dice', 'test/a.test.ts': '' });
    const { stdout, stderr, status, file } = pack(folder);
    expect(status, stderr).to.equal(0);
    expect(existsSync(file)).to.equal(true);
    expect(stdout)
      .to.match(/^ {2}README\.md \(0\.0 kB\)$/m)
      .and.to.match(/^ {2}src\/index\.ts \(/m);
    expect(stdout).to.not.include('a.test.ts');
    expect(stdout).to.include(`${file}: 3 files, `);
    for (const line of [`cinnabar plugin add ${file}`, `!plugin install ${file}`, `npm publish ${file}`])
      expect(stdout).to.include(line);
  });

  it('refuses what does not belong into it, and what is missing, each with a sentence', () => {
    using folder = project(['src', 'test', '.env', 'locales'], {
      '.env': 'KEY=1',
      'src/key.ts': `export const key = 'sk-${'a1'.repeat(12)}';\n`,
      'test/a.test.ts': '',
      'locales/de.json': '{ "Rolls dice": "Würfelt", "Rolls": "Würfelt" }',
    });
    const { stderr, status, file } = pack(folder);
    expect(status).to.equal(1);
    expect(existsSync(file)).to.equal(false);
    for (const text of [
      'error: .env would be in it, an environment with its secrets: narrow "files"',
      'error: test/a.test.ts would be in it, a test',
      'error: src/key.ts:1 has what looks like a token or key',
      'error: it has no README: write README.md',
    ])
      expect(stderr).to.include(text);
  });
});
