import { createHistoryJournals, type HistoryJournals } from '@cinnabar/plugin-mcp/dist/history/journals.js';
import { createManualClock } from '@cinnabar/sdk/testing';
import { journalsIn } from '../../core/storage/fixture.js';

/** The history of the bot `1`, in a folder. */
export function historyIn(folder: string): HistoryJournals {
  const clock = createManualClock();
  return createHistoryJournals({
    journals: journalsIn(folder, clock),
    botId: () => '1',
    clock,
    after: () => undefined,
  });
}
