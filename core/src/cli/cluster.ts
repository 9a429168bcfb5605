import { CinnabarError, type HostEnd } from '@cinnabar/sdk';
import { createSystemClock } from '../clock/clock.js';
import { createMember, type Layout, type Member } from '../cluster/member.js';
import type { HostConfig } from '../config/host-config.js';
import { createRedactor, secretsIn } from '../observability/log-entry.js';
import { createLogs } from '../observability/logs.js';
import { guardProcess } from '../process/errors.js';
import { listenToSignals, RESTART_CODE } from '../process/signals.js';
import { startWatchdog } from '../process/watchdog.js';
import { HOST_VERSION } from '../version.js';
import { type StartOptions, sayOn, started } from './discord.js';

/** The watchdog considers the process stuck after a few seconds without a heartbeat. */
const BEAT_MS = 250;
/** The longest that a stop takes, with handing over the groups. */
const STOP_S = 25;

/**
 * `cinnabar start --cluster`: one of the processes that serve a bot together, until a signal or an owner stops it.
 * @returns the exit code: 0 when it has stopped, `RESTART_CODE` when it is to be started again
 * @throws UserError where no database is configured; CINNABAR_GATEWAY_LOGIN
 */
export async function runMember(
  config: HostConfig & { readonly token: string },
  process: NodeJS.Process,
  { builtPlugins, onReady }: StartOptions,
): Promise<number> {
  const say = sayOn(process);
  const terminal = { stream: process.stderr, level: config.logLevel };
  const clock = createSystemClock();
  const redactor = createRedactor(secretsIn(config));
  const logs = createLogs({ dir: config.logDir, level: config.logLevel, clock, redactor, console: terminal });
  const log = logs.logger('cluster');
  let requestEnd: (how: HostEnd) => void = () => undefined;
  const requested = new Promise<HostEnd>((resolve) => {
    requestEnd = resolve;
  });
  const member = createMember({
    config,
    host: { terminal, onEndRequest: requestEnd, ...(builtPlugins === undefined ? {} : { builtPlugins }) },
    clock,
    log,
    onUnreachable: (detail, ms) =>
      say(`Discord does not answer (${detail}); asking again in ${Math.ceil(ms / 1_000)} s.`),
  });
  const watchdog = startWatchdog();
  watchdog.logTo(log);
  const beat = setInterval(() => watchdog.beat(), BEAT_MS);
  const release = guardProcess(process, (error, kind) => {
    // All groups run the same plugins, so the error cannot be attributed to one group: the first host handles it.
    const [host] = member.hosts();
    if (host === undefined) log.error(`uncaught ${kind}`, { error });
    else host.uncaught(error, kind);
  });
  const signals = listenToSignals(process, say, STOP_S);
  try {
    const serving = member.start().then((layout) => {
      process.stdout.write(readyLine(member, layout));
      started(config, onReady, say);
      // Keeps the process running until something else ends it.
      return new Promise<never>(() => undefined);
    });
    const ended = await Promise.race([signals.first, requested, member.ended, serving]);
    if (ended instanceof CinnabarError) throw ended;
    return ended === 'restart' ? RESTART_CODE : 0;
  } finally {
    await member.stop();
    say('stopped.');
    clearInterval(beat);
    release();
    signals.release();
    await logs.close();
  }
}

function readyLine({ name, groups }: Member, { groups: count, shardCount }: Layout): string {
  const serves = groups().length === 0 ? 'none yet, the others serve all' : groups().join(', ');
  return `Cinnabar ${HOST_VERSION} is ready as ${name}, in a cluster of ${count} groups with ${shardCount} shards. Groups served here: ${serves}.\n`;
}
