import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { changing } from './tree.js';

describe('a release’s changes to the tree', () => {
  let root: string;
  const content = (name: string) => readFile(join(root, name), 'utf8');
  const files = ['package.json', 'CHANGELOG.md'];

  beforeEach(async () => {
    root = await mkdtemp(join(tmpdir(), 'cinnabar-tree-'));
    for (const file of files) await writeFile(join(root, file), `${file} before`);
  });
  afterEach(() => rm(root, { recursive: true, force: true }));

  const change = async (file: string) => writeFile(join(root, file), 'after');
  const left = () => Promise.all(files.map(content));
  const BEFORE = files.map((file) => `${file} before`);

  it('stay where it is no rehearsal', async () => {
    const done = changing(root, { files, keep: true }, async () => {
      for (const file of files) await change(file);
      return 'published';
    });
    expect(await done).to.equal('published');
    expect(await left()).to.deep.equal(['after', 'after']);
  });

  it('are taken back after a rehearsal', async () => {
    await changing(root, { files, keep: false }, async () => change('package.json'));
    expect(await left()).to.deep.equal(BEFORE);
  });

  for (const steps of [0, 1, 2]) {
    it(`are taken back after a failure behind ${steps} of them`, async () => {
      const failing = changing(root, { files, keep: true }, async () => {
        for (const file of files.slice(0, steps)) await change(file);
        throw new Error('does not build');
      });
      expect(await failing.catch((error: unknown) => String(error))).to.equal('Error: does not build');
      expect(await left()).to.deep.equal(BEFORE);
    });
  }

  it('are taken back when it is interrupted', async function () {
    if (process.platform === 'win32') this.skip();
    const script = `import { writeFileSync } from 'node:fs';
import { changing } from ${JSON.stringify(new URL('./tree.js', import.meta.url).href)};
await changing(${JSON.stringify(root)}, { files: ['package.json'], keep: true }, async () => {
  writeFileSync(${JSON.stringify(join(root, 'package.json'))}, 'after');
  process.stdout.write('changed');
  await new Promise((go) => process.stdin.once('data', go));
});`;
    const child = spawn(process.execPath, ['--input-type=module', '--eval', script]);
    await once(child.stdout, 'data');
    expect(await content('package.json')).to.equal('after');
    child.kill('SIGINT');
    const [, signal] = await once(child, 'exit');
    expect(signal).to.equal('SIGINT');
    expect(await left()).to.deep.equal(BEFORE);
  });
});
