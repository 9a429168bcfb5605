import type { LocalChannel, LocalUser } from '@cinnabar/local-discord';
import { Ledger, Tools } from '@cinnabar/sdk';
import type { CampaignOptions, CampaignResult } from '../main.js';
import { createDice, type Dice, weighted } from './dice.js';
import { type Harness, openHarness } from './harness.js';
import { type Asked, TIME_LIMIT_MS } from './witness.js';

const MOST_CALLS = 5;
/** A new local Discord is started after this number of calls, because it keeps everything in memory. */
const CALLS_PER_TOWN = 1_000;

/**
 * Interleavings end to end: members' reactions on a local Discord reach the real `confirm`, while time passes, cards are deleted, plugins are reloaded, and the
 * bot is restarted or killed.
 * `rounds` is the number of calls, of which up to five run at a time, each with random events.
 */
export async function sceneRounds({ seed, rounds, log }: CampaignOptions): Promise<CampaignResult> {
  const counts: Record<string, number> = { 'end-to-end interleavings': rounds };
  const violations: string[] = [];
  for (let played = 0; played < rounds; played += CALLS_PER_TOWN) {
    const calls = Math.min(CALLS_PER_TOWN, rounds - played);
    violations.push(...(await playHarness({ seed: seed + played, calls, counts })));
    if (rounds > CALLS_PER_TOWN) log(`end to end: ${played + calls} of ${rounds}`);
  }
  return { counts, violations };
}

async function playHarness({ seed, calls, counts }: Pick<Scene, 'calls' | 'counts'> & { readonly seed: number }) {
  await using harness = await openHarness();
  const { witness } = harness;
  const channel = harness.host().general;
  const violations: string[] = [];
  for (let played = 0; played < calls; ) {
    const dice = createDice(seed + played);
    const atOnce = Math.min(calls - played, dice.between(1, MOST_CALLS));
    await playScene({ harness, dice, channel, calls: atOnce, counts });
    const found = witness.violations.splice(0, Number.POSITIVE_INFINITY);
    violations.push(...found.map((violation) => `seed ${seed}, call ${played}: ${violation}`));
    played += atOnce;
  }
  return violations;
}

interface Scene {
  readonly harness: Harness;
  readonly dice: Dice;
  readonly channel: LocalChannel;
  readonly calls: number;
  readonly counts: Record<string, number>;
}

async function playScene({ harness, dice, channel, calls, counts }: Scene): Promise<void> {
  const { witness } = harness;
  const { you, alice, bob, clock } = harness.host();
  const people: readonly [LocalUser, ...LocalUser[]] = [alice, bob, you];
  const count = (what: string) => {
    counts[what] = (counts[what] ?? 0) + 1;
  };
  const asked: Asked[] = [];
  for (let call = 0; call < calls; call++) asked.push(await ask(harness, channel, dice.pick(people)));
  const [first, ...others] = asked;
  if (first === undefined) return;
  const anyCall = () => dice.pick([first, ...others]);
  let crashed = false;
  /** Whether all decided calls have had their effect, so that the next decision is the only activity. */
  let quiet = true;

  const react = (emoji: string) => () => {
    const call = anyCall();
    const by = dice.chance(0.7) ? call.requester : dice.pick(people);
    if (call.deletedAt !== undefined) return;
    const decided = witness.react(call, by, emoji);
    by.react(call.card, emoji);
    count(by === call.requester ? `${emoji} of the requester` : `${emoji} of somebody else`);
    return quiet && decided ? alone(call) : undefined;
  };
  const actions: readonly (readonly [number, () => unknown])[] = [
    [6, react('👍')],
    [4, react('👎')],
    [0.5, react('🎉')],
    [1, takeBack],
    [0.7, deleteCard],
    [2, () => clock.advance(dice.between(1, 45_000))],
    [1.5, () => dice.pick(people).say(channel, 'meanwhile …')],
    [2, rest],
    [0.15, () => reload('confirm')],
    [0.3, () => reload('effects')],
    [0.08, restart],
    [0.08, crash],
  ];
  const steps = dice.between(1, 4 * calls);
  for (let step = 0; step < steps; step++) {
    const action = weighted(dice, actions);
    await action?.();
    quiet = action === rest;
  }

  await harness.host().settled();
  clock.advance(TIME_LIMIT_MS + 1_000);
  for (const person of people) person.say(channel, 'what about that?');
  await harness.host().settled();
  for (const call of asked) {
    const entry = await harness.host().resolve(Ledger).get(call.callId);
    witness.close(call, entry?.state, crashed);
    witness.calls.delete(call.callId);
    count(`ended ${entry?.state}`);
  }

  async function rest() {
    await harness.host().settled();
  }
  async function alone(call: Asked) {
    await rest();
    witness.judgeAlone(call);
    count('decisions with nothing else going on');
  }
  function takeBack() {
    const { card, deletedAt, requester } = anyCall();
    const given = card.reactions.find(({ users }) => users.has(requester));
    if (deletedAt === undefined && given !== undefined) requester.unreact(card, given.emoji.name ?? '');
  }
  function deleteCard() {
    const call = anyCall();
    if (call.deletedAt !== undefined) return;
    call.deletedAt = clock.now();
    you.delete(call.card);
    count('cards deleted');
  }
  async function reload(plugin: 'confirm' | 'effects') {
    await harness.reload(plugin);
    count(`reloads of ${plugin}`);
  }
  async function restart() {
    await harness.restart();
    count('restarts');
  }
  async function crash() {
    crashed = true;
    await harness.crash();
    count('crashes of the bot');
  }
}

let asked = 0;

/** Requests a call, and waits for its card. */
async function ask(harness: Harness, channel: LocalChannel, requester: LocalUser): Promise<Asked> {
  const host = harness.host();
  const marker = `marker-${++asked}-`;
  const outcome = await host.resolve(Tools).invoke({
    name: 'act',
    arguments: { marker },
    actor: { userId: requester.id, guildId: host.guild.id, channelId: channel.id },
    origin: 'campaign',
  });
  if (outcome.status !== 'deferred') throw new Error(`not held: ${JSON.stringify(outcome)}`);
  const card = [...channel.messagesById.values()].findLast(({ content }) => content.includes(marker));
  if (card === undefined) throw new Error(`there is no card for ${marker}`);
  const { callId } = outcome;
  const call: Asked = { callId, requester, card, at: host.clock.now(), epoch: harness.witness.epoch(), runs: 0 };
  harness.witness.calls.set(callId, call);
  void outcome.settled.then((settled) => {
    call.outcome = settled;
  });
  return call;
}
