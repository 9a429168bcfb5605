import { createFileDriver } from '@cinnabar/core';
import { openJournals } from '@cinnabar/core/internal/storage/files';
import { createHistoryJournals, type HistoryJournals } from '@cinnabar/plugin-mcp/dist/history/journals.js';
import { createManualClock } from '@cinnabar/sdk/testing';
import { recordingLogger } from '../../support/logs.js';

/** The history of the bot `1`, in a folder. */
export function historyIn(folder: string): HistoryJournals {
  const clock = createManualClock();
  const driver = createFileDriver({ root: folder, journals: folder, clock, log: recordingLogger() });
  return createHistoryJournals({ journals: openJournals(driver, []), botId: () => '1', clock, after: () => undefined });
}
