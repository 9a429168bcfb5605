import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { startTrialHost, type TrialHost } from '@cinnabar/core/internal/plugins/check/trial-host';

export interface CampaignHost extends TrialHost {
  /** Where the plugins are that the campaign writes itself. */
  readonly pluginFolder: string;
}

const EXAMPLES = fileURLToPath(new URL('../../../../examples', import.meta.url));

/** The real host on a local Discord with every bundled plugin, every example, and what is in `<dataDir>/own`. */
export async function startCampaignHost(dataDir: string): Promise<CampaignHost> {
  const pluginFolder = join(dataDir, 'own');
  const trial = await startTrialHost({
    dataDir,
    buildCacheDir: process.env.BUILD_CACHE_PATH ?? join(dataDir, 'cache'),
    root: dataDir,
    pluginFolders: [EXAMPLES, pluginFolder],
  });
  return { ...trial, pluginFolder };
}
