import type { HostConfig } from '../config/host-config.js';
import { createHost } from '../host.js';
import { guardProcess } from '../process/guard.js';
import { untilStopped } from '../process/signals.js';
import { HOST_VERSION } from '../version.js';

/**
 * Runs the bot on Discord until it is told to stop.
 * @returns the exit code
 */
export async function runBot(
  config: HostConfig & { readonly token: string },
  process: NodeJS.Process,
): Promise<number> {
  const host = createHost({ config, terminal: { stream: process.stderr, level: config.logLevel } });
  const release = guardProcess(process, host.uncaught);
  const stopped = untilStopped(process);
  try {
    // Somebody who stops it while it logs in does not want to wait for that.
    const report = await Promise.race([host.start(config.token), stopped]);
    if (report === undefined) return 0;
    const { running } = report;
    const guilds = host.client.guilds.cache.size;
    process.stdout.write(
      `Cinnabar ${HOST_VERSION} is ready as ${host.client.user?.tag} in ${guilds} ${guilds === 1 ? 'guild' : 'guilds'}, with ${running.length} plugins: ${running.join(', ')}.\n`,
    );
    const ended = await Promise.race([stopped, host.ended]);
    if (ended !== undefined) throw ended;
    return 0;
  } finally {
    await host.stop();
    release();
  }
}
