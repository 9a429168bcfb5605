import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { type LlmRequest, SettingsCatalog, Tasks } from '@cinnabar/sdk';
import { compare, type Figure, limit } from './report.js';
import { openTasksWorld, type TasksWorld } from './tasks/world.js';

const TURNS = 40;
const AT_ONCE = 50;
const WAITING = 200;
const KILOBYTE = 1_024;
const WAIT_WORD = 'wait';

/** Measures the influence of running tasks on the response time for other members, and on memory. */
export async function* tasks(): AsyncGenerator<Figure> {
  const dataDir = await mkdtemp(join(tmpdir(), 'cinnabar-bench-tasks-'));
  try {
    await using world = await openTasksWorld(dataDir, { waits: (request) => promptOf(request).includes(WAIT_WORD) });
    await configure(world);
    await turns(world, 5);
    const idle = await turns(world, TURNS);
    const ids = await start(world, AT_ONCE, 'Work without end');
    await wait(2_000);
    const before = await steps(world);
    const busy = await turns(world, TURNS);
    const made = (await steps(world)) - before;
    if (made < AT_ONCE) throw new Error(`the tasks made ${made} steps meanwhile: they were not at work`);
    const what = `a chat turn, while ${AT_ONCE} tasks work: 95th percentile`;
    yield compare({ name: what, unit: 'ms', ours: p95(busy), peer: p95(idle), peerName: 'an idle host', atMost: 1.2 });
    const { userId, guildId, channelId } = world.actor;
    for (const id of ids) await world.host.resolve(Tasks).stop(id, { userId, guildId, channelId });
    await wait(3_000);
    yield await memory(world);
  } finally {
    await rm(dataDir, { recursive: true, force: true, maxRetries: 5 });
  }
}

async function memory(world: TasksWorld): Promise<Figure> {
  const before = heap();
  await start(world, WAITING, `Look around, then ${WAIT_WORD}`);
  const service = world.host.resolve(Tasks);
  for (let waiting = 0; waiting < WAITING; ) {
    await wait(200);
    waiting = (await service.list({})).filter(({ status }) => status === 'waiting_user').length;
  }
  const each = (heap() - before) / WAITING / KILOBYTE;
  return limit('memory of a task that waits for an answer', 'KB', each, 200);
}

/** Memory after a garbage collection. */
function heap(): number {
  setFlagsFromString('--expose-gc');
  const gc: unknown = runInNewContext('gc');
  if (typeof gc === 'function') for (let times = 0; times < 3; times++) gc();
  return process.memoryUsage().heapUsed;
}

async function configure({ host, owner }: TasksWorld): Promise<void> {
  const catalog = host.resolve(SettingsCatalog);
  await catalog.set('tasks', 'maxRunning', '500', owner);
  const more = { perGuild: 500, perMember: 100, maxOpen: 1_000, maxSteps: 500, maxIdleSteps: 100 };
  for (const [key, value] of Object.entries(more)) await catalog.set('tasks', key, String(value), owner);
  await catalog.set('ai', 'turnsPerMinute', '0', owner);
}

async function start({ host, actor }: TasksWorld, count: number, prompt: string): Promise<readonly string[]> {
  const service = host.resolve(Tasks);
  const ids: string[] = [];
  for (let number = 0; number < count; number++) {
    const { id } = await service.start({ prompt: `${prompt}, number ${number}`, actor, origin: 'bench' });
    ids.push(id);
  }
  return ids;
}

async function steps({ host }: TasksWorld): Promise<number> {
  return (await host.resolve(Tasks).list({})).reduce((sum, { stepCount }) => sum + stepCount, 0);
}

/** The response times of some questions. */
async function turns({ ask }: TasksWorld, count: number): Promise<readonly number[]> {
  const took: number[] = [];
  for (let turn = 0; turn < count; turn++) took.push(await ask());
  return took;
}

function p95(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.floor(sorted.length * 0.95)] ?? Number.NaN;
}

const promptOf = ({ messages }: LlmRequest): string => JSON.stringify(messages[0]?.content ?? '');
