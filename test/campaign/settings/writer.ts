/** The process that is killed: it writes without end, and prints each operation before its start and after it is saved. */
import { writeSync } from 'node:fs';
import { openDocuments } from './documents.js';
import { operationsOf } from './operations.js';

/** Number of simultaneous writes, so that a kill interrupts several. */
const AT_ONCE = 6;

const [root = '', seed = '0'] = process.argv.slice(2);
const say = (line: string) => writeSync(1, `${line}\n`);
const complain = (message: string, fields?: object) => void writeSync(2, `${message} ${JSON.stringify(fields)}\n`);
const log = {
  error: complain,
  warn: () => undefined,
  info: () => undefined,
  debug: () => undefined,
  trace: () => undefined,
  traces: false,
  child: () => log,
};

const documents = openDocuments({ root, log, onProblem: () => undefined });
const operations = operationsOf(Number(seed));

async function write(): Promise<never> {
  for (;;) {
    const operation = operations.next().value;
    say(`start ${operation.n}`);
    await documents.carryOut(operation);
    say(`saved ${operation.n}`);
  }
}
await Promise.all(Array.from({ length: AT_ONCE }, write));
