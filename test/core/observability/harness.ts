import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { createHandedNotices, takeNotices } from '@cinnabar/core/internal/cluster/notices';
import { alertsSchema, createAlertQueue } from '@cinnabar/core/internal/observability/alert-queue';
import { createLogs, type Logs, type LogsOptions } from '@cinnabar/core/internal/observability/logs';
import { createMemoryDriver } from '@cinnabar/core/testing';
import { z } from '@cinnabar/sdk';
import { createManualClock } from '@cinnabar/sdk/testing';
import { formatTexts } from '../../support/languages.js';
import { recordingLogger } from '../../support/logs.js';
import { storageOn } from '../storage/fixture.js';

const line = z.looseObject({ time: z.string(), level: z.string(), component: z.string(), message: z.string() });

/** The log files in a folder, from `info` on; nothing on a terminal. */
export function openLogs(dir: string, options: Partial<LogsOptions> = {}): Logs {
  return createLogs({ dir, level: 'info', clock: createManualClock(), ...options });
}

/** Logs into a temporary folder; `written` closes them and returns the content. */
export function givenLogs(options: Partial<LogsOptions> = {}) {
  const dir = mkdtempSync(join(tmpdir(), 'cinnabar-logs-'));
  const stream = new PassThrough();
  const logs = openLogs(join(dir, 'logs'), {
    level: 'debug',
    console: { stream, level: 'info' },
    clock: createManualClock(Date.UTC(2026, 0, 2, 3, 4, 5, 6)),
    ...options,
  });
  const written = async () => {
    await logs.close();
    const names = readdirSync(join(dir, 'logs'));
    const read = (name: string) => {
      const file = names.find((one) => new RegExp(`^${name}-\\d{4}-\\d\\d-\\d\\d\\.log$`).test(one));
      const text = file === undefined ? '' : readFileSync(join(dir, 'logs', file), 'utf8');
      return text.split('\n').slice(0, -1);
    };
    return {
      terminal: String(stream.read() ?? ''),
      entries: read('cinnabar').map((text) => line.parse(JSON.parse(text))),
      errors: read('errors').map((text) => line.parse(JSON.parse(text))),
      audit: read('audit').map((text): unknown => JSON.parse(text)),
      raw: ['cinnabar', 'errors', 'audit'].flatMap(read).join('\n'),
      modes: names
        .filter((name) => name.endsWith('.log'))
        .map((name) => statSync(join(dir, 'logs', name)).mode & 0o777),
    };
  };
  return { dir, logs, stream, written, [Symbol.dispose]: () => rmSync(dir, { recursive: true, force: true }) };
}

type Sending = Pick<Parameters<typeof createAlertQueue>[0], 'reachable' | 'send'>;
type Queue = ReturnType<typeof createAlertQueue>;
/** The channel with which the hosts of a cluster forward notices to the host with direct messages. */
export type Channel = Parameters<typeof takeNotices>[1] & Parameters<typeof createHandedNotices>[0]['channel'];

/** The alerts for the owners of a bot, over restarts and in each of its hosts; the test moves the time. */
export function openAlerts() {
  formatTexts();
  const clock = createManualClock();
  const log = recordingLogger();
  const storage = storageOn(createMemoryDriver());
  const parts = (key: string) => ({
    document: () => storage.collection('notices', { scope: 'global', version: 1, schema: alertsSchema }).of(key),
    languages: () => [],
    redact: (text: string) => text,
    clock,
    log,
  });
  return {
    clock,
    /** The queue of a bot that starts with the entries of the previous run. */
    queue: (sending: Sending): Queue => createAlertQueue({ ...sending, ...parts('owners') }),
    /** The queue in the host of the first group, which receives the notices of others. */
    taking: (sending: Sending, channel: Channel): ReturnType<typeof takeNotices> =>
      takeNotices(createAlertQueue({ ...sending, ...parts('owners') }), channel),
    /** The notices of the host of another group, which forwards them. */
    handing: (
      group: number,
      channel: Channel,
      redact: (text: string) => string,
    ): ReturnType<typeof createHandedNotices> =>
      createHandedNotices({ ...parts(`owners@${group}`), channel, group, redact }),
  };
}
