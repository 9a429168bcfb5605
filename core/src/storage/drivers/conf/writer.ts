import { createRequire } from 'node:module';
import { basename, dirname } from 'node:path';
import type { Stored } from '../../driver.js';
import { encodeStored } from '../../envelope.js';

type ConfModule = typeof import('conf');

let loaded: ConfModule | undefined;

function isListener(value: unknown): value is (...args: unknown[]) => void {
  return typeof value === 'function';
}

function signalListeners(): Map<string, readonly unknown[]> {
  const signals = process.eventNames().filter((event) => typeof event === 'string' && event.startsWith('SIG'));
  return new Map(signals.map((signal) => [signal.toString(), process.rawListeners(signal.toString())]));
}

/**
 * Loads conf at the first write, since it brings a JSON Schema compiler that costs more start time than everything else in this room.
 * conf's atomic writer also installs handlers that answer SIGINT and SIGTERM by raising the signal again, which would end the host in the middle
 * of its clean stop; its writes here are synchronous and leave nothing to clean up, so those handlers are taken out again. Loading is
 * synchronous so that nobody else's handler can arrive in between.
 */
function loadConf(): ConfModule {
  if (loaded !== undefined) return loaded;
  const before = signalListeners();
  const conf: ConfModule = createRequire(import.meta.url)('conf');
  for (const [signal, listeners] of signalListeners()) {
    for (const listener of listeners) {
      if (isListener(listener) && !before.get(signal)?.includes(listener)) process.removeListener(signal, listener);
    }
  }
  loaded = conf;
  return conf;
}

/** Writes one document's file: a temporary file, synced, then renamed over the old one, readable by the owner of the process alone. */
export function writeAtomically(file: string, stored: Stored): void {
  const { default: Conf } = loadConf();
  const conf = new Conf<{ version: number; data: unknown }>({
    cwd: dirname(file),
    configName: basename(file, '.json'),
    fileExtension: 'json',
    configFileMode: 0o600,
    accessPropertiesByDotNotation: false,
    clearInvalidConfig: false,
    serialize: encodeStored,
    // Reading is the driver's: conf would fail on a damaged file that is about to be replaced.
    deserialize: () => ({ version: stored.version, data: stored.data }),
  });
  conf.store = { version: stored.version, data: stored.data };
}
