import { setTimeout as wait } from 'node:timers/promises';
import { createDice } from './confirm/dice.js';
import type { CampaignOptions, CampaignResult } from './main.js';
import { openScene } from './stop-signals/scene.js';
import { STATES, type State } from './stop-signals/states.js';

/** Time limit of the whole stop, as in the README, plus a tolerance for a busy machine. */
const MOST_MS = 15_000;
/** Number of bots at a time; they mostly wait. */
const AT_ONCE = 3;
const REACHED_WITHIN_MS = 90_000;
const LATEST_SIGNAL_MS = 400;

/** @param only names of states; default: all */
export async function stopSignalsCampaign(
  { seed, rounds, log }: CampaignOptions,
  only: readonly string[] = STATES.map(({ name }) => name),
): Promise<CampaignResult> {
  const dice = createDice(seed);
  const states = STATES.filter(({ name }) => only.includes(name));
  const turns = Array.from({ length: rounds }, (_, round) => ({
    round,
    state: states[round % states.length],
    delayMs: dice.between(0, LATEST_SIGNAL_MS),
  }));
  const violations: string[] = [];
  const counts: Record<string, number> = { stops: 0, 'slowest stop, ms': 0 };
  const work = async () => {
    for (let turn = turns.shift(); turn?.state !== undefined; turn = turns.shift()) {
      const { round, state, delayMs } = turn;
      const { ms, wrong } = await stopIn(state, delayMs).catch((error: unknown) => ({ ms: 0, wrong: [String(error)] }));
      counts.stops = (counts.stops ?? 0) + 1;
      counts['slowest stop, ms'] = Math.max(counts['slowest stop, ms'] ?? 0, ms);
      violations.push(...wrong.map((what) => `seed ${seed}, round ${round}, ${state.name}: ${what}`));
      log(`${state.name}: ${ms} ms${wrong.length === 0 ? '' : ` WRONG: ${wrong.join('; ')}`}`);
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, work));
  return { counts, violations };
}

async function stopIn(
  state: State,
  delayMs: number,
): Promise<{ readonly ms: number; readonly wrong: readonly string[] }> {
  await using scene = await openScene(state);
  const reached = await Promise.race([state.reach(scene), wait(REACHED_WITHIN_MS, undefined, { ref: false })]);
  if (reached === undefined)
    return { ms: 0, wrong: [`the state was not reached: ${scene.errors()} ${JSON.stringify(scene.said())}`] };
  const { child, ended } = reached;
  await wait(delayMs);
  const known = scene.said().length;
  const began = performance.now();
  for (const [signal, afterMs] of state.signals ?? [['SIGTERM', 0]]) {
    await wait(afterMs);
    child.kill(signal);
  }
  const tooLate = wait(2 * MOST_MS, undefined, { ref: false }).then(() => undefined);
  const run = await Promise.race([ended, tooLate]);
  const ms = Math.round(performance.now() - began);
  if (run === undefined) return { ms, wrong: [`it still ran after ${ms} ms`] };

  const { code = 0, words = /cinnabar: stopped\./, read = [] } = state;
  const wrong: string[] = [];
  if (ms > MOST_MS) wrong.push(`it took ${ms} ms`);
  if ((run.code ?? run.signal) !== code) wrong.push(`it ended with ${run.code ?? run.signal}, not with ${code}`);
  if (!words.test(run.err)) wrong.push(`standard error does not say ${words}: ${run.err.slice(-600)}`);
  const left = [...scene.said().slice(known)];
  for (const sentence of read) {
    const at = left.findIndex((text) => sentence.test(text));
    if (at < 0) wrong.push(`nobody read ${sentence}, but ${JSON.stringify(left)}`);
    else left.splice(at, 1);
  }
  const untrue = left.filter((text) => /There is no responder|Something went wrong|cancelled/.test(text));
  if (untrue.length > 0) wrong.push(`somebody read ${JSON.stringify(untrue)}`);
  return { ms, wrong };
}
