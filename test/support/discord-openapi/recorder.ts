/** Loaded into a process before its program (`record.ts`): appends each exchange of its local Discord to a file. */
import { subscribe } from 'node:diagnostics_channel';
import { appendFileSync } from 'node:fs';

const { REST_EXCHANGES_CHANNEL: channel, REST_EXCHANGES_FILE: file } = process.env;

if (channel !== undefined && file !== undefined) {
  subscribe(channel, (exchange) => appendFileSync(file, `${JSON.stringify(exchange)}\n`));
}
