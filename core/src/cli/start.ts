import type { HostConfig } from '../config/host-config.js';
import { createHost } from '../host.js';
import { HOST_VERSION } from '../version.js';
import { untilStopped } from './signals.js';

/**
 * Runs the bot on Discord until it is told to stop.
 * @returns the exit code
 */
export async function runBot(
  config: HostConfig & { readonly token: string },
  process: NodeJS.Process,
): Promise<number> {
  const host = await createHost({ config, terminal: process.stderr });
  const stopped = untilStopped(process);
  try {
    const report = await host.start(config.token);
    process.stdout.write(
      `Cinnabar ${HOST_VERSION} is ready as ${host.client.user?.tag} in ${host.client.guilds.cache.size} guilds, with ${report.running.length} plugins: ${report.running.join(', ')}.\n`,
    );
    await stopped;
    return 0;
  } finally {
    await host.stop();
  }
}
