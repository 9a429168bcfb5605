import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { createHost, type Host } from '@cinnabar/core';
import { startLocalDiscord } from '@cinnabar/local-discord';
import { createManualClock } from '@cinnabar/sdk/testing';

export interface CampaignHost extends AsyncDisposable {
  readonly host: Host;
  /** What did not start, in sentences. */
  readonly problems: readonly string[];
  /** Where the plugins are that the campaign writes itself. */
  readonly pluginFolder: string;
}

const EXAMPLES = fileURLToPath(new URL('../../../../examples', import.meta.url));

/** The real host on a local Discord with every bundled plugin, every example, and what is in `<dataDir>/own`. */
export async function startCampaignHost(dataDir: string): Promise<CampaignHost> {
  const clock = createManualClock();
  const discord = await startLocalDiscord({ clock });
  const you = discord.createUser({ name: 'you' });
  const application = discord.createApplication({ name: 'Cinnabar', owner: you });
  discord.createGuild({ name: 'Night City', owner: you }).invite(application);
  const pluginFolder = join(dataDir, 'own');
  const host = createHost({
    clock,
    config: {
      token: application.token,
      discordApi: discord.api,
      root: dataDir,
      botName: undefined,
      configDir: join(dataDir, 'config'),
      dataDir,
      cacheDir: join(dataDir, 'cache'),
      buildCacheDir: process.env.BUILD_CACHE_PATH ?? join(dataDir, 'cache'),
      logDir: join(dataDir, 'logs'),
      logLevel: 'error',
      prefixes: ['!'],
      owners: [],
      pluginFolders: [EXAMPLES, pluginFolder],
      disabledPlugins: [],
      presets: {},
      presetPlace: (plugin, key) => `${plugin}.${key}`,
      env: {},
    },
  });
  const { problems } = await host.start(application.token);
  return {
    host,
    problems: problems.map(({ problem }) => problem),
    pluginFolder,
    async [Symbol.asyncDispose]() {
      await host.stop();
      await discord.close();
    },
  };
}
