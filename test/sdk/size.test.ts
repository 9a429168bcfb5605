import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { z } from '@cinnabar/sdk';
import { expect } from 'chai';

const ROOT = fileURLToPath(new URL('../../../', import.meta.url));
const PACKAGES_AT_MOST = 35;

const names = z.record(z.string(), z.string()).default({});
const lockFile = z.object({
  packages: z.record(
    z.string(),
    z.object({
      link: z.boolean().default(false),
      resolved: z.string().optional(),
      dependencies: names,
      optionalDependencies: names,
      peerDependencies: names,
    }),
  ),
});

describe('@cinnabar/sdk, as a plugin installs it', () => {
  it(`brings at most ${PACKAGES_AT_MOST} packages`, async () => {
    const { packages } = lockFile.parse(JSON.parse(await readFile(join(ROOT, 'package-lock.json'), 'utf8')));
    const installed = new Set<string>();
    const install = (name: string, from: string) => {
      const path = locate(packages, name, from);
      if (path === undefined || installed.has(path)) return;
      installed.add(path);
      const entry = packages[path];
      for (const dependency of Object.keys({ ...entry?.dependencies, ...entry?.optionalDependencies })) {
        install(dependency, path);
      }
    };
    install('@cinnabar/sdk', 'plugins/admin');
    expect([...installed]).to.include('node_modules/discord.js');
    expect(installed.size, [...installed].join('\n')).to.be.at.most(PACKAGES_AT_MOST);
  });
});

/** The installed location of a dependency of `from`: beside it, or in a parent folder, as Node resolves it. */
function locate(packages: z.output<typeof lockFile>['packages'], name: string, from: string): string | undefined {
  for (let folder = from; ; folder = folder.slice(0, Math.max(0, folder.lastIndexOf('/')))) {
    const path = folder === '' ? `node_modules/${name}` : `${folder}/node_modules/${name}`;
    const entry = packages[path];
    if (entry !== undefined) return entry.link ? entry.resolved : path;
    if (folder === '') return undefined;
  }
}
