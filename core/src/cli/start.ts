import type { HostConfig } from '../config/host-config.js';
import { createHost, type StopReport } from '../host.js';
import type { BuiltPlugins } from '../plugins/loader.js';
import { guardProcess } from '../process/errors.js';
import { listenToSignals } from '../process/signals.js';
import { startWatchdog } from '../process/watchdog.js';
import { HOST_VERSION } from '../version.js';

export interface StartOptions {
  /** See `HostOptions`. */
  readonly builtPlugins?: BuiltPlugins;
  /** Called once the bot is ready. Must not throw. */
  readonly onReady?: () => void;
}

/**
 * Runs the bot on Discord until a signal stops it.
 * @returns the exit code: 0 when it has stopped, 1 when not everything could be saved in time
 */
export async function runBot(
  config: HostConfig & { readonly token: string },
  process: NodeJS.Process,
  { builtPlugins, onReady = () => undefined }: StartOptions = {},
): Promise<number> {
  const say = sayOn(process);
  const host = createHost({
    config,
    terminal: { stream: process.stderr, level: config.logLevel },
    watchdog: startWatchdog(),
    ...(builtPlugins === undefined ? {} : { builtPlugins }),
  });
  const release = guardProcess(process, host.uncaught);
  const stopped = listenToSignals(process, say).first;
  try {
    // Whoever stops it while it logs in does not want to wait for that.
    const first = await Promise.race([host.start(config.token), stopped]);
    if (typeof first !== 'string') {
      const { running } = first;
      const guilds = host.client.guilds.cache.size;
      process.stdout.write(
        `Cinnabar ${HOST_VERSION} is ready as ${host.client.user?.tag} in ${guilds} ${guilds === 1 ? 'guild' : 'guilds'}, with ${running.length} plugins: ${running.join(', ')}.\n`,
      );
      onReady();
      const ended = await Promise.race([stopped, host.ended]);
      if (typeof ended !== 'string') throw ended;
    }
  } catch (error) {
    await host.stop();
    throw error;
  }
  const report = await host.stop();
  release();
  say(wordsOf(report));
  return report.saved ? 0 : 1;
}

/** What people read at the terminal beside the log. */
export function sayOn({ stderr }: Pick<NodeJS.Process, 'stderr'>): (sentence: string) => void {
  return (sentence) => void stderr.write(`cinnabar: ${sentence}\n`);
}

/** How a stop went, in one line. */
export function wordsOf({ unfinished, saved }: StopReport): string {
  const cutShort = unfinished.length === 0 ? '' : ` Cut short: ${unfinished.join(', ')}.`;
  return `stopped.${cutShort}${saved ? '' : ' Not everything could be saved in time.'}`;
}
