import { join } from 'node:path';
import { createHost, loadConfig } from '@cinnabar/core';
import { createMemoryDriver } from '@cinnabar/core/testing';
import { startLocalDiscord } from '@cinnabar/local-discord';
import { PluginPackages } from '@cinnabar/sdk';

interface Options {
  /** Where the bot's `.npmrc` is, and what relative addresses of packages start from. */
  readonly root: string;
  /** Address of the npm registry. */
  readonly registry: string;
  /** Registry files, by their paths below `root`. */
  readonly registries?: readonly string[];
  readonly megabytes?: number;
  readonly env?: Readonly<Record<string, string>>;
}

/** A running bot into which packages are installed, with a folder of its own. Its data and installed plugins are in `data`. */
export async function openPackageHost({ root, registry, registries = [], megabytes, env = {} }: Options) {
  const discord = await startLocalDiscord();
  const owner = discord.createUser({ name: 'you' });
  const application = discord.createApplication({ name: 'Cinnabar', owner });
  const variables = {
    BUILD_CACHE_PATH: process.env.BUILD_CACHE_PATH,
    DISCORD_API: discord.api,
    npm_config_registry: registry,
    ...env,
  };
  const config = loadConfig(root, variables);
  const host = createHost({
    config: {
      ...config,
      cacheDir: join(root, 'cache'),
      registries,
      ...(megabytes !== undefined && { pluginMegabytes: megabytes }),
    },
    driver: createMemoryDriver(),
    logFiles: false,
    only: [],
  });
  await host.start(application.token);
  return {
    packages: host.resolve(PluginPackages),
    async [Symbol.asyncDispose]() {
      await host.stop();
      await discord.close();
    },
  };
}
