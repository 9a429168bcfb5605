import { mkdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { createDiscovery } from '@cinnabar/core';
import { loaderIn } from '../../core/plugins/support/harness.js';

export type TechniqueName = 'ours' | 'import';

/** A way to evaluate a plugin again. */
export type Reload = (version: number) => Promise<object>;

const SIZE_BYTES = 100 * 1024;

/** Writes a plugin of 100 KB below `folder`, and returns the function that reloads it. */
export const TECHNIQUES: Readonly<Record<TechniqueName, (folder: string) => Promise<Reload>>> = {
  /** The host's loader. The source does not change: each load evaluates it again, and the build is not measured. */
  async ours(folder) {
    const plugin = join(folder, 'large');
    await save(
      join(plugin, 'index.js'),
      `import { definePlugin } from '@cinnabar/sdk';
${ballast()}
export default definePlugin({
  manifest: { id: 'large', version: '1.0.0', description: 'Is large' },
  setup: () => void handlers.length,
});
`,
    );
    const loader = loaderIn(join(folder, 'cache'));
    const [found] = (await createDiscovery({ bundled: [plugin], folders: [], packageRoots: [] })()).plugins;
    if (found === undefined) throw new Error(`there is no plugin in ${plugin}`);
    return () => loader.load(found);
  },

  /** The usual technique: a new query string makes Node load the module again. */
  async import(folder) {
    const file = join(folder, 'large.mjs');
    await save(file, `${ballast()}\nexport default { setup: () => void handlers.length };\n`);
    return async (version) => {
      const loaded: { readonly default: object } = await import(`${pathToFileURL(file).href}?v=${version}`);
      return loaded.default;
    };
  },
};

async function save(file: string, source: string): Promise<void> {
  await mkdir(dirname(file), { recursive: true });
  await writeFile(file, source);
}

/** Handlers like those of plugins. */
function ballast(): string {
  const handlers: string[] = [];
  for (let size = 0; size < SIZE_BYTES; size += handlers.at(-1)?.length ?? 0) handlers.push(handler(handlers.length));
  return `const handlers = [\n${handlers.join('')}];`;
}

const handler = (index: number) => `  async (context, name) => {
    if (name === 'handler ${index}') await context.reply(\`This is handler ${index} of many, \${name}.\`);
    return { index: ${index}, name };
  },
`;
