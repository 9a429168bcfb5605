import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { startTrial } from '../../support/trial-host.js';

export type CampaignHost = Awaited<ReturnType<typeof startTrial>> & {
  /** The folder of the campaign's own plugins. */
  readonly pluginFolder: string;
};

const EXAMPLES = fileURLToPath(new URL('../../../../examples', import.meta.url));

/** The real host on a local Discord with every bundled plugin, every example, and the plugins in `<dataDir>/own`. */
export async function startCampaignHost(dataDir: string): Promise<CampaignHost> {
  const pluginFolder = join(dataDir, 'own');
  const trial = await startTrial(dataDir, join(dataDir, 'cache'), [EXAMPLES, pluginFolder]);
  return { ...trial, pluginFolder };
}
