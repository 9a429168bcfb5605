/** Writes calls to `argv[2]` without end, and tells its parent how many are written. */
import { createJournal } from '@cinnabar/plugin-mcp/dist/history/files.js';
import { createManualClock } from '@cinnabar/sdk/testing';

const journal = createJournal(createManualClock(), () => undefined);
const timestamp = new Date(0).toISOString();
for (let count = 1; ; count += 1) {
  const id = String(count);
  await journal.append(process.argv[2] ?? '', {
    call: { id, name: 'buy', input: { what: 'x'.repeat(1_000) }, messageId: '1' },
    result: { callId: id, output: 'bought' },
    timestamp,
  });
  process.send?.(count);
}
