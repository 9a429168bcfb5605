/** Writes calls to `argv[2]` without end, and reports the number of written calls to its parent. */
import { historyIn } from './history-in.js';

const journals = historyIn(process.argv[2] ?? '');
const timestamp = new Date(0).toISOString();
for (let count = 1; ; count += 1) {
  const id = String(count);
  await journals.append(
    { guildId: null, channelId: '10' },
    {
      call: { id, name: 'buy', input: { what: 'x'.repeat(1_000) }, messageId: '1' },
      result: { callId: id, output: 'bought' },
      timestamp,
    },
  );
  process.send?.(count);
}
