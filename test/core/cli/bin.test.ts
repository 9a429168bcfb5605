import { spawnSync } from 'node:child_process';
import { chmodSync, cpSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect } from 'chai';
import { makeFolder } from '../../support/folder.js';

const SHEBANG = `#!${process.execPath}\n`;

/** Writes files to a folder for one test. */
function lay(files: Readonly<Record<string, string>>) {
  const folder = makeFolder();
  for (const [name, content] of Object.entries(files)) {
    const path = join(folder.path, name);
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, content);
    if (content.startsWith('#!')) chmodSync(path, 0o755);
  }
  for (const path of ['bin', 'bootstrap.mjs']) {
    cpSync(join('core', path), join(folder.path, 'core', path), { recursive: true });
  }
  const run = (...args: string[]) => {
    const env = { ...process.env, PATH: `${join(folder.path, 'tools')}:${process.env.PATH}` };
    const { stdout, stderr, status } = spawnSync(
      process.execPath,
      [join(folder.path, 'core/bin/cinnabar.mjs'), ...args],
      { env, encoding: 'utf8' },
    );
    return { stdout, stderr, status };
  };
  return { run, [Symbol.dispose]: () => folder[Symbol.dispose]() };
}

const MAIN = "console.log('main', process.argv.slice(2).join(' '));\n";

describe('the command cinnabar', () => {
  it('is a file that exists before anything is built, in the repository and in the package', () => {
    for (const manifest of ['package.json', join('core', 'package.json')]) {
      const { bin } = JSON.parse(readFileSync(manifest, 'utf8'));
      const path = join(dirname(manifest), bin.cinnabar);
      expect(path).to.not.include('dist');
      expect(statSync(path).mode & 0o111, path).to.equal(0o111);
    }
  });

  it('installs and builds on a fresh clone, says so on standard error only, and does what was asked', () => {
    const compiler = `require('node:fs').mkdirSync('core/dist/cli', { recursive: true }); require('node:fs').writeFileSync('core/dist/cli/main.js', ${JSON.stringify(MAIN)});`;
    const npm = `const { mkdirSync, writeFileSync } = require('node:fs');
console.log('npm', process.argv[2]);
mkdirSync('node_modules/typescript/bin', { recursive: true });
writeFileSync('node_modules/typescript/bin/tsc', ${JSON.stringify(compiler)});
writeFileSync('node_modules/.package-lock.json', '{}');`;
    using clone = lay({
      'package.json': '{}',
      'package-lock.json': '{}',
      'core/package.json': '{"type":"module"}',
      'core/src/cli/main.ts': '',
      'sdk/a.ts': '',
      'plugins/a.ts': '',
      'examples/a.ts': '',
      'test/a.ts': '',
      'tools/npm': `${SHEBANG}${npm}`,
    });
    expect(clone.run('version')).to.deep.equal({
      stdout: 'main version\n',
      stderr: 'cinnabar: installing packages …\nnpm ci\ncinnabar: building …\n',
      status: 0,
    });
    expect(clone.run('schema', 'x.json')).to.deep.equal({ stdout: 'main schema x.json\n', stderr: '', status: 0 });
  });

  it('runs what is built where it is installed as a package', () => {
    const manifest = { name: '@cinnabar/core', type: 'module', exports: { './internal/*': './dist/*.js' } };
    using installed = lay({ 'core/package.json': JSON.stringify(manifest), 'core/dist/cli/main.js': MAIN });
    expect(installed.run('help')).to.deep.equal({ stdout: 'main help\n', stderr: '', status: 0 });
  });
});
