import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import {
  importsOf,
  type Package,
  type Packed,
  pack,
  publishedPackages,
  ROOT,
  readPackages,
  removeStaleOutput,
} from './packages.js';

const SDK_BYTES_AT_MOST = 300_000;

describe('the packages that are published', () => {
  let packages: readonly Package[];
  let packed: ReadonlyMap<string, Packed>;

  before(async function () {
    this.timeout(120_000);
    packages = await publishedPackages();
    for (const one of packages) await removeStaleOutput(one);
    packed = new Map((await pack(packages)).map((one) => [one.name, one]));
  });

  const filesOf = ({ manifest }: Package) => (packed.get(manifest.name)?.files ?? []).map(({ path }) => path);
  const complaints = (check: (one: Package) => readonly string[]) =>
    packages.flatMap((one) => check(one).map((text) => `${one.manifest.name}: ${text}`));

  it('are the root and all but the tests and the examples', async () => {
    const kept = (await readPackages()).filter(({ manifest }) => manifest.private).map(({ folder }) => folder);
    expect(kept.filter((folder) => folder !== 'test' && !folder.startsWith('examples/'))).to.deep.equal([]);
    expect(packages.map(({ manifest }) => manifest.name)).to.include.members([
      'cinnabar',
      '@cinnabar/sdk',
      '@cinnabar/core',
    ]);
    expect([...packed.keys()]).to.have.members(packages.map(({ manifest }) => manifest.name));
  });

  it('come with their licence, a README, and nothing that only the tree needs', async () => {
    const licence = await readFile(join(ROOT, 'LICENSE'), 'utf8');
    for (const { folder } of packages)
      expect(await readFile(join(ROOT, folder, 'LICENSE'), 'utf8'), folder).to.equal(licence);
    const needed = ['LICENSE', 'README.md', 'package.json'];
    const unwanted =
      /\.test\.|(?:^|\/)(?:test|fixtures|node_modules)\/|tsbuildinfo|tsconfig|\.env|^dist\/bundle|\.d\.ts\.map$|^core\/(?!bin\/)/;
    expect(
      complaints((one) => [
        ...needed.filter((name) => !filesOf(one).includes(name)).map((name) => `has no ${name}`),
        // Tests in the templates of `cinnabar new` are for new projects.
        ...filesOf(one).filter((path) => unwanted.test(path) && !path.startsWith('templates/')),
      ]),
    ).to.deep.equal([]);
  });

  it('have the files that their package.json names, their languages, and the list of errors', () => {
    const targets = ({ exports = {}, main, bin }: Package['manifest']) => [
      ...Object.values(exports).flatMap((target) => (typeof target === 'string' ? [target] : Object.values(target))),
      ...(main === undefined ? [] : [main]),
      ...Object.values(bin),
    ];
    const missing = complaints((one) => {
      const files = filesOf(one);
      const named = targets(one.manifest).map((target) => target.replace(/^\.\//, ''));
      return named.filter((target) =>
        target.includes('*')
          ? !files.some(
              (path) => path.startsWith(target.split('*')[0] ?? '') && path.endsWith(target.split('*')[1] ?? ''),
            )
          : !files.includes(target),
      );
    });
    expect(missing).to.deep.equal([]);
    const spoken = packages.filter(({ folder }) => folder === 'core' || folder.startsWith('plugins/'));
    for (const one of spoken) expect(filesOf(one), one.folder).to.include('locales/de.json');
    expect(packed.get('@cinnabar/sdk')?.files.map(({ path }) => path)).to.include('ERRORS.md');
  });

  it('have one version, licence, range of Node and place of their sources, and ask for each other in that version', () => {
    const root = packages.find(({ folder }) => folder === '.')?.manifest;
    if (root === undefined) throw new Error('the root is private');
    expect(root.dependencies).to.have.all.keys(
      '@cinnabar/core',
      ...packages.filter(({ folder }) => folder.startsWith('plugins/')).map(({ manifest }) => manifest.name),
    );
    for (const { folder, manifest } of packages) {
      expect(manifest.version, folder).to.equal(root.version);
      expect(manifest.license, folder).to.equal('MIT');
      expect(manifest.description, folder).to.match(/^.{20,}\.$/);
      expect(manifest.engines, folder).to.deep.equal(root.engines);
      expect(manifest.scripts, folder).to.not.have.any.keys('preinstall', 'install', 'postinstall', 'prepare');
      if (folder !== '.') expect(manifest.publishConfig, folder).to.deep.equal({ access: 'public' });
      const repository = root.repository === undefined ? undefined : { ...root.repository, directory: folder };
      if (folder !== '.') expect(manifest.repository, folder).to.deep.equal(repository);
      const own = Object.entries(manifest.dependencies).filter(([name]) => packed.has(name));
      for (const [name, range] of own) expect(range, `${folder}: ${name}`).to.equal(root.version);
    }
  });

  it('declare the packages that they import, and no others', async () => {
    const problems: string[] = [];
    for (const one of packages.filter(({ folder }) => folder !== '.')) {
      const { name, dependencies, peerDependencies } = one.manifest;
      const declared = Object.keys({ ...dependencies, ...peerDependencies });
      const imported = await importsOf(one);
      for (const [used, file] of imported)
        if (used !== name && !declared.includes(used))
          problems.push(`${file} imports ${used}, which ${name} does not declare`);
      for (const unused of declared)
        if (!imported.has(unused) && !imported.has(unused.replace(/^@types\//, '')))
          problems.push(`${name} declares ${unused} and never imports it`);
    }
    expect(problems).to.deep.equal([]);
  });

  it('have declarations that need no types which are not installed with them', async () => {
    const problems: string[] = [];
    for (const one of packages) {
      const untyped = Object.keys(one.manifest.devDependencies)
        .filter((name) => name.startsWith('@types/') && name !== '@types/node')
        .map((name) => name.slice('@types/'.length));
      for (const path of filesOf(one).filter((file) => file.endsWith('.d.ts'))) {
        const text = await readFile(join(ROOT, one.folder, path), 'utf8');
        for (const name of untyped)
          if (text.includes(`'${name}'`)) problems.push(`${one.folder}/${path} needs ${name}`);
      }
    }
    expect(problems).to.deep.equal([]);
  });

  it(`are small: the SDK has at most ${SDK_BYTES_AT_MOST / 1_000} kB`, () => {
    expect(packed.get('@cinnabar/sdk')?.size).to.be.within(10_000, SDK_BYTES_AT_MOST);
    expect(packed.get('@cinnabar/core')?.size).to.be.at.most(1_500_000);
  });
});
