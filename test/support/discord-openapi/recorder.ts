/** Loaded into a process ahead of its program (`record.ts`): writes each exchange of its local Discord as a line to a file. */
import { subscribe } from 'node:diagnostics_channel';
import { appendFileSync } from 'node:fs';

const { REST_EXCHANGES_FILE: file } = process.env;

// The name of the channel, which is imported nowhere here: the SDK is the program's to load.
if (file !== undefined) {
  subscribe('cinnabar:local-discord:rest', (exchange) => appendFileSync(file, `${JSON.stringify(exchange)}\n`));
}
