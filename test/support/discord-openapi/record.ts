import { randomUUID } from 'node:crypto';
import { channel } from 'node:diagnostics_channel';
import { readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { REST_EXCHANGES } from '@cinnabar/local-discord';

/** The exchanges of a process that has its own local Discord. */
interface ExchangeRecording {
  /** The environment for the process. */
  readonly env: Readonly<Record<string, string>>;
  /** Publishes the recorded exchanges in this process; called after the end of the recorded one. */
  publish(): void;
}

export function recordExchanges(): ExchangeRecording {
  const file = join(tmpdir(), `cinnabar-exchanges-${randomUUID()}`);
  const options = [process.env.NODE_OPTIONS, `--import=${import.meta.resolve('./recorder.js')}`];
  const env = {
    NODE_OPTIONS: options.filter(Boolean).join(' '),
    REST_EXCHANGES_CHANNEL: REST_EXCHANGES,
    REST_EXCHANGES_FILE: file,
  };
  return {
    env,
    publish() {
      const lines = readLines(file);
      rmSync(file, { force: true });
      for (const line of lines) channel(REST_EXCHANGES).publish(JSON.parse(line));
    },
  };
}

/** Empty when the process had no local Discord. */
function readLines(file: string): string[] {
  try {
    return readFileSync(file, 'utf8').split('\n').filter(Boolean);
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return [];
    throw error;
  }
}
