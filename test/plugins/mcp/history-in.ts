import { createHistory } from '@cinnabar/plugin-mcp/dist/history/history.js';
import { createHistoryJournals, type HistoryJournals } from '@cinnabar/plugin-mcp/dist/history/journals.js';
import { createKeyedMutex } from '@cinnabar/sdk';
import { createManualClock } from '@cinnabar/sdk/testing';
import { journalsIn } from '../../core/storage/fixture.js';
import { recordingLogger } from '../../support/logs.js';

/** The history of bot `1` in a folder. */
export function historyIn(folder: string): HistoryJournals {
  const clock = createManualClock();
  return createHistoryJournals({
    journals: journalsIn(folder, clock),
    botId: () => '1',
    clock,
    after: () => undefined,
  });
}

/** The history with other journals. */
export function historyOver(
  journals: Parameters<typeof createHistory>[0]['journals'],
): ReturnType<typeof createHistory> {
  return createHistory({ journals, mutex: createKeyedMutex(), log: recordingLogger() });
}
