/**
 * The process that is killed: the real queue with its real journal, and an agent in the parent process. `node process.js FOLDER AGENT EVENT …`: offers these
 * events, prints the acknowledged ones, and `drained` when the queue is empty. Stops normally when its standard input ends.
 */

import { writeSync } from 'node:fs';
import { setTimeout } from 'node:timers/promises';
import { event, openQueueIn } from '../../plugins/relay/queue/harness.js';
import { createFastClock } from './fast-clock.js';
import { type Told, tellPath } from './messages.js';
import { placeOf } from './places.js';

const [folder = '', agent = '', ...ids] = process.argv.slice(2);
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
// The clock runs a hundred times as fast as real time.
const clock = createFastClock({ times: 100, since: Date.now() });

const deliver: Parameters<typeof openQueueIn>[1]['deliver'] = async (batch, key, signal) => {
  const told: Told = { key, ids: batch.map(({ id }) => id) };
  try {
    const answer = await fetch(agent + tellPath, { method: 'POST', body: JSON.stringify(told), signal });
    if (answer.ok) return { status: 'done', posted: true, tokens: 1, steps: 1 };
    return { status: 'failed', retry: true, sentence: 'It failed.', error: answer.status };
  } catch (error) {
    return { status: 'failed', retry: true, sentence: 'It was cut off.', error };
  }
};

let keys = 0;
const queue = await openQueueIn(folder, {
  rulesFor: async () => ({ rateLimitMs: 500, maxQueueSize: 1_000, whenFull: 'refuse-newest', paused: false }),
  agentFor: async () => 'aurora',
  deliver,
  clock,
  random: { next: Math.random, id: () => `${process.pid}-${Date.now()}-${++keys}` },
  log,
  bound: () => ({ total: 6, perGuild: 3 }),
  mostTogether: 4,
  onDropped: () => complain('something was dropped'),
  onFailed: ({ events }) => say(`failed ${events.map(({ id }) => id).join(' ')}`),
});
say('ready');

process.stdin.resume().once('end', async () => {
  await queue.stop();
  say('stopped');
});

const offers = ids.map(async (id, n) => {
  // Offers some events while the first ones are being delivered.
  await setTimeout(Math.floor(n / 10) * 3);
  await queue.enqueue(event(id, placeOf(id)));
  say(`taken ${id}`);
});
await Promise.all(offers);

const isEmpty = async () => {
  const all = await Promise.all(['a', 'b'].map((guild) => queue.status(guild)));
  return all.every(({ waiting, sending }) => waiting.length + sending.length === 0);
};
while (!(await isEmpty())) await setTimeout(5);
say('drained');
