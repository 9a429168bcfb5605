import { setImmediate as nextTurn } from 'node:timers/promises';
import { createMemoryDriver } from '@cinnabar/core/testing';
import type { CallState, SettledOutcome, ToolCall } from '@cinnabar/sdk';
import {
  alice,
  bob,
  countingIds,
  GUILD,
  holdingInterceptor,
  openToolHarness,
  recordingTool,
} from '../../core/tools/harness.js';
import type { CampaignResult } from '../main.js';
import { createDice, type Dice, weighted } from './dice.js';
import { createSlowDriver } from './slow-driver.js';
import { hasEnded } from './witness.js';

const TOOL = 'add_party_character';

/**
 * Interleavings in the tool service: a minimal interceptor holds a call, on a disk where a write takes time, may fail, or is lost in a crash. Meanwhile there
 * are decisions, repeated decisions, reloads, and changed policies and rights at random moments.
 */
export async function toolRounds(seed: number, rounds: number): Promise<CampaignResult> {
  const counts: Record<string, number> = { 'tool service interleavings': rounds };
  const violations: string[] = [];
  for (let round = 0; round < rounds; round++) {
    const found = await playRound(createDice(seed + round), counts);
    violations.push(...found.map((violation) => `tool service round ${round}: ${violation}`));
  }
  return { counts, violations };
}

async function playRound(dice: Dice, counts: Record<string, number>): Promise<readonly string[]> {
  const violations: string[] = [];
  const count = (what: string) => {
    const key = `tool service, ${what}`;
    counts[key] = (counts[key] ?? 0) + 1;
  };
  const disk = createMemoryDriver();
  const driver = createSlowDriver(disk, dice, dice.chance(0.2) ? 0.05 : 0);
  const ids = countingIds();
  const shop = openToolHarness({ driver, ids });
  const held = holdingInterceptor();
  const decisions: string[] = [];
  let runs = 0;
  let outcome: SettledOutcome | undefined;
  let crashed = false;

  const tool = recordingTool([], {
    async run(_input, { callId }) {
      runs += 1;
      if (runs > 1) violations.push('it ran twice');
      if (crashed) violations.push('it ran after the restart');
      if (decisions[0] !== 'approve') violations.push(`it ran after ${decisions[0] ?? 'no decision'}`);
      const row = await disk.read(['@host', 'ledger', 'open', callId]);
      const state =
        typeof row?.data === 'object' && row.data !== null && 'state' in row.data ? row.data.state : 'nothing';
      if (state !== 'executing') violations.push(`it ran with ${String(state)} on the disk`);
      if (dice.chance(0.1)) throw new Error('the tool failed');
      await nextTurn();
    },
  });
  let party = shop.load('party');
  const confirm = shop.load('confirm');
  shop.service.tool(party, tool);
  shop.service.intercept(confirm, held.interceptor);

  const decide = (what: 'approve' | 'deny' | 'expire', act: (call: ToolCall) => Promise<boolean>) => () => {
    const [call] = held.calls;
    if (call === undefined) return;
    void act(call).then(
      (first) => {
        if (first) decisions.push(what);
        count(first ? `${what}: first` : `${what}: too late`);
      },
      () => count('decisions that could not be written'),
    );
  };
  const actions: readonly (readonly [number, () => void])[] = [
    [5, decide('approve', (call) => call.approve(dice.pick([alice.userId, bob.userId])))],
    [2, decide('deny', (call) => call.deny(alice.userId, 'no'))],
    [1, decide('expire', (call) => call.expire('too late'))],
    [4, () => held.goOn()],
    [3, () => void held.nexts[0]?.()],
    [1, () => void party.scope.close().then(() => count('tool unloaded'))],
    [1, reloadTool],
    [0.3, unloadConfirm],
    [0.5, () => void shop.policies.set(GUILD, TOOL, dice.pick(['deny', 'confirm', 'allow']))],
    [0.3, () => void shop.shutOut.add(dice.pick([alice.userId, bob.userId]))],
    [0.5, () => shop.shutOut.clear()],
  ];
  function unloadConfirm() {
    // As the host does for a plugin that guards tools.
    shop.guardsDown.push('confirm');
    void confirm.scope.close().then(() => count('interceptor unloaded'));
  }
  function reloadTool() {
    const old = party;
    void old.scope.close().then(() => {
      if (party !== old) return;
      party = shop.load('party');
      shop.service.tool(party, tool);
      count('tool reloaded');
    });
  }

  const request = { name: TOOL, arguments: { name: 'V' }, actor: alice, origin: 'campaign' };
  const invoked = shop.service.invoke(request).then(async (first) => {
    outcome = first.status === 'deferred' ? await first.settled : first;
  });
  const steps = dice.between(5, 40);
  const crashAt = dice.chance(0.25) ? dice.between(0, steps) : Number.POSITIVE_INFINITY;
  for (let step = 0; step < steps && step < crashAt; step++) {
    if (dice.chance(0.5)) driver.step();
    else weighted(dice, actions)?.();
    for (let turn = dice.between(0, 6); turn > 0; turn--) await Promise.resolve();
    if (dice.chance(0.2)) await nextTurn();
  }
  if (crashAt <= steps) {
    driver.crash();
    count('crashes');
    // Runs the continuations of writes that the dead process had completed, which may still have effects.
    for (let turn = 0; turn < 3; turn++) await nextTurn();
  } else {
    await finish();
  }
  crashed = true;
  const next = openToolHarness({ driver: disk, ids });
  await next.service.recover();
  const [entry] = await next.service.ledger.recent({ limit: 1 });
  if (runs > 0) count('runs');
  if (entry !== undefined) count(`ended ${entry.state}`);
  return [
    ...violations,
    ...judgeEnd({ state: entry?.state, runs, outcome, crash: crashAt <= steps, failures: driver.failures }),
  ];

  /** Lets every running call end, with a decision if there was none. */
  async function finish() {
    for (let idle = 0; idle < 12; idle++) {
      while (driver.step()) {
        idle = 0;
        await nextTurn();
      }
      await nextTurn();
      if (idle === 4) {
        void held.calls[0]?.expire('the end').catch(() => undefined);
        held.goOn();
      }
    }
    if (outcome !== undefined) await invoked;
  }
}

interface End {
  readonly state: CallState | undefined;
  readonly runs: number;
  readonly outcome: SettledOutcome | undefined;
  readonly crash: boolean;
  readonly failures: number;
}

function judgeEnd({ state, runs, outcome, crash, failures }: End): readonly string[] {
  const found: string[] = [];
  const certain = !crash && failures === 0;
  if (state !== undefined && !hasEnded(state)) found.push(`it is still ${state} after a restart`);
  if (state === undefined && runs > 0) found.push('it ran, and the ledger knows nothing of it');
  if (runs === 0 && state === 'done') found.push('it is done without having run');
  if (runs > 0 && (state === 'denied' || state === 'expired')) found.push(`it ran and is ${state}`);
  if (certain && state === 'unknown') found.push('it is unknown, although nothing crashed');
  if (certain && outcome === undefined) found.push('its outcome never came');
  if (certain && outcome !== undefined && state !== undefined && outcome.status !== state) {
    found.push(`its outcome is ${outcome.status}, but the ledger says ${state}`);
  }
  return found;
}
