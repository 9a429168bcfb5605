import { fileURLToPath } from 'node:url';
import { createLanguages, formatIcuMessage } from '@cinnabar/core/internal/languages/languages';
import { formatMessagesWith, speaking } from '@cinnabar/sdk';
import { recordingLogger } from './logs.js';

const ROOT = fileURLToPath(new URL('../../../', import.meta.url));

/** The languages of the packages in these folders, the host's first. */
export function languagesIn(folders: readonly string[]) {
  return createLanguages({ folders: () => folders, log: recordingLogger() });
}

/** Enables ICU messages without a host, which enables them at its creation. */
export function formatTexts(): void {
  formatMessagesWith(formatIcuMessage);
}

/** Runs a task in German, with the catalogues of the host and of the packages: `plugins/chat`. */
export function inGerman<T>(packages: readonly string[], task: () => T): T {
  const german = languagesIn(['core', ...packages].map((name) => `${ROOT}/${name}`)).find('de');
  if (german === undefined) throw new Error('there is no German');
  return speaking(german, task);
}
