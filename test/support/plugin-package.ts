import { HOST_VERSION } from '@cinnabar/core';
import { packFiles } from './tarball.js';

interface PluginPackageOptions {
  readonly id: string;
  readonly version?: string;
  /** `cinnabar-plugin-ID` when left out. */
  readonly name?: string;
  /** What else stands in the manifest of the plugin, as source: `intents: ['GuildMembers']`. */
  readonly manifest?: string;
  /** What else stands in the definition, as source. */
  readonly definition?: string;
  /** The body of `setup`, as source; `context` is what it is handed. */
  readonly setup?: string;
  /** Before everything, as source. */
  readonly imports?: string;
  readonly packageFile?: Readonly<Record<string, unknown>>;
  readonly files?: Readonly<Record<string, string>>;
}

/** The files of a plugin's package, as `cinnabar new` lays them out: a command of its name says its version. */
export function pluginFiles({
  id,
  version = '1.0.0',
  name = `cinnabar-plugin-${id}`,
  manifest = '',
  definition = '',
  setup = '',
  imports = '',
  packageFile = {},
  files = {},
}: PluginPackageOptions): Readonly<Record<string, string>> {
  return {
    'package.json': JSON.stringify({
      name,
      version,
      type: 'module',
      license: 'MIT',
      keywords: ['cinnabar-plugin'],
      main: './src/index.ts',
      peerDependencies: { '@cinnabar/sdk': `^${HOST_VERSION}` },
      ...packageFile,
    }),
    'src/index.ts': `import { definePlugin, z } from '@cinnabar/sdk';
${imports}
export default definePlugin({
  manifest: { id: '${id}', version: '${version}', description: 'Rolls dice', author: 'Judy', ${manifest} },
  ${definition}
  setup(context) {
    context.command({ name: '${id}', description: 'Rolls', run: (ctx) => ctx.reply('${id} ${version}') });
    ${setup}
  },
});
void z;
`,
    ...files,
  };
}

/** The same as a tarball, as `npm pack` makes it. */
export function pluginTarball(options: PluginPackageOptions): Buffer {
  return packFiles(pluginFiles(options));
}
