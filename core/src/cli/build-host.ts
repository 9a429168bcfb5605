/**
 * `node core/dist/cli/build-host.js [TIME [DIR]]`: builds the browser's part of plugins, then the host's bundle and those of its plugins from the compiled
 * files.
 * `npm run build` runs it with the time in ms at which it read the sources. A bot that was started from installed packages runs it with the folder for the
 * bundle.
 */

import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync } from 'node:fs';
import { cp, mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { build } from 'esbuild';
import { BUNDLE_DIR, IS_SOURCE_TREE, WORKSPACE } from '../bundling/built.js';
import { buildHostBundle } from '../bundling/host-bundle.js';

const [, , at = Date.now(), dir = BUNDLE_DIR] = process.argv;
// First, since the bundle records the state of the folders at that time.
await buildWebClients();
await buildHostBundle(dir, Number(at));

/**
 * Builds the browser's part of the plugins that have one, and the page of the local Discord: `client/src/main.tsx` becomes `public/assets/main-….js`, with a
 * hash of its content in the name, beside `index.html` and the other files of `client`. `client/book.mjs` adds the documentation. Installed packages contain
 * the result.
 */
async function buildWebClients(): Promise<void> {
  if (!IS_SOURCE_TREE) return;
  const plugins = join(WORKSPACE, 'plugins');
  for (const name of readdirSync(plugins)) {
    const client = join(plugins, name, 'client');
    const out = join(plugins, name, 'public');
    if (existsSync(join(client, 'src', 'main.tsx'))) await buildClient(client, out, '/');
    const book = join(client, 'book.mjs');
    if (existsSync(book)) execFileSync(process.execPath, [book, out], { stdio: ['ignore', 'ignore', 'inherit'] });
  }
  const local = join(WORKSPACE, 'sdk', 'local-client');
  await buildClient(join(local, 'client'), join(local, 'public'), './');
}

/** @param base the address to which the page's assets are relative */
async function buildClient(client: string, out: string, base: '/' | './'): Promise<void> {
  await rm(out, { recursive: true, force: true });
  await mkdir(out, { recursive: true });
  const { metafile } = await build({
    absWorkingDir: client,
    entryPoints: ['src/main.tsx'],
    outdir: join(out, 'assets'),
    entryNames: '[name]-[hash]',
    bundle: true,
    format: 'esm',
    target: 'es2022',
    jsx: 'automatic',
    jsxImportSource: 'preact',
    minify: true,
    legalComments: 'none',
    metafile: true,
    logLevel: 'warning',
  });
  const names = Object.keys(metafile.outputs).map((path) => basename(path));
  const tags = names.map((name) =>
    name.endsWith('.css')
      ? `    <link rel="stylesheet" href="${base}assets/${name}" />\n`
      : `    <script type="module" src="${base}assets/${name}"></script>\n`,
  );
  const page = await readFile(join(client, 'index.html'), 'utf8');
  await writeFile(join(out, 'index.html'), page.replace('  </head>', `${tags.join('')}  </head>`));
  for (const entry of readdirSync(client, { withFileTypes: true }))
    if (entry.isFile() && /\.(?:svg|png|webmanifest)$/.test(entry.name))
      await cp(join(client, entry.name), join(out, entry.name));
}
