import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { createLogs, type Logs, type LogsOptions } from '@cinnabar/core/internal/observability/logs';
import { z } from '@cinnabar/sdk';
import { createManualClock } from '@cinnabar/sdk/testing';

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
