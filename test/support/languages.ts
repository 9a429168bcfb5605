import { fileURLToPath } from 'node:url';
import { createHost, loadConfig } from '@cinnabar/core';
import { createMemoryDriver } from '@cinnabar/core/testing';
import { definePlugin, Languages } from '@cinnabar/sdk';

const ROOT = fileURLToPath(new URL('../../../', import.meta.url));

/** The languages of a bot with plugins in these folders. It is not started. */
function languagesWith(folders: readonly string[]): Languages {
  const host = createHost({
    config: loadConfig(ROOT, {}),
    driver: createMemoryDriver(),
    logFiles: false,
    only: [],
  });
  for (const [index, path] of folders.entries()) {
    const manifest = { id: `plugin-${index}`, version: '1.0.0', description: 'Has a catalogue' };
    host.plugins.add(definePlugin({ manifest, setup: () => undefined }), { path });
  }
  return host.resolve(Languages);
}

/** Enables ICU messages without a running host. */
export function formatTexts(): void {
  languagesWith([]);
}

/** Runs a task in German, with the catalogues of the host and of plugins: `plugins/chat`. */
export function inGerman<T>(plugins: readonly string[], task: () => T | Promise<T>): Promise<T> {
  const languages = languagesWith(plugins.map((name) => `${ROOT}/${name}`));
  languages.chooseBy(() => 'de');
  return languages.speak({ guildId: null }, task);
}
