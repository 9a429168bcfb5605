/** Loaded into a process ahead of its program (`record.ts`): writes each exchange of its local Discord as a line to a file. */
import { subscribe } from 'node:diagnostics_channel';
import { appendFileSync } from 'node:fs';

const { REST_EXCHANGES_CHANNEL: channel, REST_EXCHANGES_FILE: file } = process.env;

if (channel !== undefined && file !== undefined) {
  subscribe(channel, (exchange) => appendFileSync(file, `${JSON.stringify(exchange)}\n`));
}
