import { fileURLToPath } from 'node:url';
import { createLanguages } from '@cinnabar/core/internal/languages/languages';
import { speaking } from '@cinnabar/sdk';
import { recordingLogger } from './logs.js';

const ROOT = fileURLToPath(new URL('../../../', import.meta.url));

/** Runs a task in German, with the catalogues of the host and of the packages: `plugins/chat`. */
export function inGerman<T>(packages: readonly string[], task: () => T): T {
  const folders = ['core', ...packages].map((name) => `${ROOT}/${name}`);
  const german = createLanguages({ folders: () => folders, log: recordingLogger() }).find('de');
  if (german === undefined) throw new Error('there is no German');
  return speaking(german, task);
}
