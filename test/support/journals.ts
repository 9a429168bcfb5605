import { createFileDriver, type Driver } from '@cinnabar/core';
import { openJournals } from '@cinnabar/core/internal/storage/files';
import type { Clock } from '@cinnabar/sdk';
import { createManualClock } from '@cinnabar/sdk/testing';
import { recordingLogger } from './logs.js';

/** The journals of a plugin, or of nobody: then their paths are those of the driver. */
export function journalsOn(driver: Driver, plugin?: string) {
  return openJournals(driver, plugin === undefined ? [] : [plugin]);
}

/** Journals in a folder. */
export function journalsIn(folder: string, clock: Clock = createManualClock()) {
  return journalsOn(createFileDriver({ root: folder, journals: folder, clock, log: recordingLogger() }));
}
