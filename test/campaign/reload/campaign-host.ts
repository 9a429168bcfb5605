import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { createHost, type Host, loadConfig } from '@cinnabar/core';
import { startLocalDiscord } from '@cinnabar/local-discord';
import { createManualClock } from '@cinnabar/sdk/testing';

export interface CampaignHost extends AsyncDisposable {
  readonly host: Host;
  /** Plugins that did not start, with the reasons as sentences. */
  readonly problems: readonly { readonly plugin: string; readonly problem: string }[];
  /** The folder of the campaign's own plugins. */
  readonly pluginFolder: string;
}

const EXAMPLES = fileURLToPath(new URL('../../../../examples', import.meta.url));

/**
 * The real host on a local Discord with every bundled plugin, every example, and the plugins in `<dataDir>/own`. Its clock does not advance, so that no timer
 * fires between two reloads.
 */
export async function startCampaignHost(dataDir: string): Promise<CampaignHost> {
  const pluginFolder = join(dataDir, 'own');
  const clock = createManualClock();
  const discord = await startLocalDiscord({ clock });
  const owner = discord.createUser({ name: 'you' });
  const application = discord.createApplication({ name: 'Cinnabar', owner });
  const guild = discord.createGuild({ name: 'Night City', owner });
  guild.invite(application);
  guild.createChannel({ name: 'general' });
  const { token } = application;
  const config = loadConfig(dataDir, {
    DISCORD_API: discord.api,
    DISCORD_TOKEN: token,
    CINNABAR_DATA: dataDir,
    CINNABAR_PLUGINS: [EXAMPLES, pluginFolder].join(','),
    // The folder with plugins that were built before.
    ...(process.env.BUILD_CACHE_PATH === undefined ? {} : { BUILD_CACHE_PATH: process.env.BUILD_CACHE_PATH }),
  });
  const host = createHost({ clock, logFiles: false, config });
  const close = async () => {
    await host.stop();
    await discord.close();
  };
  try {
    const { problems } = await host.start(token);
    return { host, problems, pluginFolder, [Symbol.asyncDispose]: close };
  } catch (error) {
    await close();
    throw error;
  }
}
