import { HOST_VERSION } from '@cinnabar/core';
import { packFiles } from './tarball.js';

interface PluginPackageOptions {
  readonly id: string;
  readonly version?: string;
  /** Default: `cinnabar-plugin-ID`. */
  readonly name?: string;
  /** Additional source in the plugin's manifest: `intents: ['GuildMembers']`. */
  readonly manifest?: string;
  /** Additional source in the definition. */
  readonly definition?: string;
  /** The source of the body of `setup`; `context` is its parameter. */
  readonly setup?: string;
  /** Source before the definition. */
  readonly imports?: string;
  readonly packageFile?: Readonly<Record<string, unknown>>;
  readonly files?: Readonly<Record<string, string>>;
}

/** The files of a plugin's package, in the layout of `cinnabar new`: a command with its name returns its version. */
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

/** The same package as a tarball of `npm pack`. */
export function pluginTarball(options: PluginPackageOptions): Buffer {
  return packFiles(pluginFiles(options));
}
