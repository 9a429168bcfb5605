import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startLocalDiscord } from '@cinnabar/local-discord';
import { testServer } from '../support/postgres.js';
import { createDice } from './confirm/dice.js';
import type { CampaignOptions, CampaignResult } from './main.js';
import { type Death, play, type Stage, type Traces } from './tasks/harness.js';
import { judge } from './tasks/judge.js';

/** Maximum number of kills at random moments before a task may finish. */
const MOST_KILLS = 6;
const LATEST_KILL_MS = 700;
/** Delay of model and tools at random kills, so that a kill can interrupt them. */
const DELAY_MS = 8;

interface Boundaries {
  /** Only every n-th write boundary; 1 for all of them. */
  readonly every?: number;
}

/**
 * A task with tools, a question, approvals and an update, whose process is killed with SIGKILL: at every write boundary, directly before and after the write,
 * then at `rounds` random moments; it is started again until the task is done.
 */
export async function tasksCampaign(
  { seed, rounds, cluster = false, log }: CampaignOptions,
  { every = 1 }: Boundaries = {},
): Promise<CampaignResult> {
  const root = await mkdtemp(join(tmpdir(), 'cinnabar-campaign-tasks-'));
  const violations: string[] = [];
  const counts = {
    'write boundaries': 0,
    'kills at write boundaries': 0,
    'kills at random moments': 0,
    'tasks carried out': 0,
    'effects marked unknown': 0,
  };
  let number = 0;
  const scene = async (deaths: readonly Death[], delayMs: number, name: string, expected?: Traces) => {
    await using stage = await openStage(root, cluster);
    number += 1;
    const traces = await play(stage, number, deaths, delayMs);
    counts['tasks carried out'] += 1;
    counts['effects marked unknown'] += traces.task.unknowns.length;
    if (expected !== undefined) violations.push(...judge(traces, expected).map((what) => `${name}: ${what}`));
    return traces;
  };
  const attempt = async (
    deaths: readonly Death[],
    delayMs: number,
    name: string,
    expected: Traces,
  ): Promise<number> => {
    try {
      return (await scene(deaths, delayMs, name, expected)).kills;
    } catch (error) {
      violations.push(`${name}: ${error instanceof Error ? error.message : String(error)}`);
      return deaths.length;
    }
  };

  try {
    const expected = await scene([], 0, 'undisturbed');
    const boundaries = expected.writes;
    counts['write boundaries'] = boundaries;
    log(`undisturbed: ${boundaries} writes, ${expected.effects.length} effects`);
    // The boundaries are counted on a disk; with a database they are the same, at another speed.
    for (let write = cluster ? boundaries + 1 : 1 + (seed % every); write <= boundaries; write += every) {
      for (const when of ['before', 'after'] as const) {
        const name = `killed ${when} write ${write}`;
        counts['kills at write boundaries'] += await attempt([{ kind: 'write', write, when }], 0, name, expected);
      }
      if (write % 10 === 0) log(`killed at write ${write} of ${boundaries}: ${violations.length} violations`);
    }
    const dice = createDice(seed);
    for (let killed = 0; killed < rounds; ) {
      const kills = Math.min(rounds - killed, dice.between(1, MOST_KILLS));
      const deaths = Array.from(
        { length: kills },
        () => ({ kind: 'moment', afterMs: dice.between(0, LATEST_KILL_MS) }) as const,
      );
      const name = `killed after ${deaths.map(({ afterMs }) => afterMs).join(', ')} ms`;
      const made = await attempt(deaths, DELAY_MS, name, expected);
      killed += Math.max(1, made);
      counts['kills at random moments'] += made;
      log(`killed at ${killed} of ${rounds} random moments: ${violations.length} violations`);
    }
  } finally {
    await rm(root, { recursive: true, force: true });
  }
  return { counts, violations };
}

async function openStage(root: string, cluster: boolean): Promise<Stage & AsyncDisposable> {
  const database = cluster ? await testServer() : undefined;
  const discord = await startLocalDiscord();
  discord.requests.enabled = false;
  const you = discord.createUser({ name: 'you' });
  const alice = discord.createUser({ name: 'alice' });
  const application = discord.createApplication({ name: 'Cinnabar', owner: you });
  const guild = discord.createGuild({ name: 'Night City', owner: you });
  guild.invite(application);
  guild.join(alice);
  return {
    root,
    discord,
    application,
    guild,
    database,
    you,
    alice,
    async [Symbol.asyncDispose]() {
      await discord.close();
      await database?.[Symbol.asyncDispose]();
    },
  };
}
