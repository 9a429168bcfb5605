/**
 * Checks the health of the bot on this machine, for containers: `node core/healthcheck.mjs [healthz|readyz]`. Exits with 0 when it is healthy, else with 1 and
 * a sentence. With `CINNABAR_MONITORING=off` there is no endpoint: the process then counts as alive, since the check runs beside it and a restart would change
 * nothing; its readiness is unknown. Plain JavaScript without imports, because it runs every few seconds.
 */
const TIMEOUT_MS = 4_000;

const [page = 'healthz'] = process.argv.slice(2);
const listen = process.env.CINNABAR_MONITORING;
const isOff = listen === 'off';
const [, host = '127.0.0.1', port] = /^(?:(.+):)?(\d+)$/.exec(listen ?? '') ?? [];
// A server that listens on every address also listens on loopback.
const reachable = { '0.0.0.0': '127.0.0.1', '[::]': '[::1]' }[host] ?? host;

try {
  if (isOff && page === 'healthz') {
    process.stdout.write('monitoring is off: the bot is not asked\n');
    process.exit(0);
  }
  if (isOff) throw new Error('monitoring is off (CINNABAR_MONITORING)');
  if (port === undefined) throw new Error('CINNABAR_MONITORING must be a port or host:port');
  const response = await fetch(`http://${reachable}:${port}/${page}`, { signal: AbortSignal.timeout(TIMEOUT_MS) });
  process.stdout.write(await response.text());
  process.exitCode = response.ok ? 0 : 1;
} catch (error) {
  process.stderr.write(`the bot does not answer: ${error.cause?.message ?? error.message}\n`);
  process.exitCode = 1;
}
