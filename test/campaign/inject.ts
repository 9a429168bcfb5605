import { createDice } from './confirm/dice.js';
import { openAgents } from './inject/agents.js';
import { ATTEMPTS, createDecks } from './inject/decks.js';
import { openHarness } from './inject/harness.js';
import { openMind, playMind } from './inject/mind.js';
import { playTalk, type Talk } from './inject/talk.js';
import { playTask } from './inject/work.js';
import type { CampaignOptions, CampaignResult } from './main.js';

const ROUNDS_PER_GUILD = 8;
/** A member's limit of turns counts per minute. */
const ALLOWANCE_MS = 61_000;

const PLAYS = {
  chat: (talk: Talk) => playTalk(talk, 'chat'),
  prefill: (talk: Talk) => playTalk(talk, 'prefill'),
  persona: playMind,
  tasks: playTask,
} as const;
const HOSTS = ['chat', 'prefill', 'persona', 'tasks', 'relay'] as const;

/**
 * Members, bots, webhooks, tools and files try to impersonate others. Parsers of the request format read what reaches the model's service and the agents'
 * server: it must contain exactly the real messages with their real authors.
 */
export async function injectCampaign({ seed, rounds, log }: CampaignOptions): Promise<CampaignResult> {
  const dice = createDice(Math.imul(seed, 0x9e3779b1));
  const decks = createDecks(dice);
  const violations: string[] = [];
  const counts: Record<string, number> = { attempts: ATTEMPTS };
  await using harness = await openHarness();
  await using agents = await openAgents();
  let guild = harness.host.guild;
  const minds = await openMind(harness);
  for (let round = 0; round < rounds; round += 1) {
    if (round % ROUNDS_PER_GUILD === 0) guild = await harness.openGuild(decks.draw('guild').text);
    const host = HOSTS[round % HOSTS.length] ?? 'chat';
    await harness.host.advance(ALLOWANCE_MS);
    const talk = { harness, decks, dice, guild: host === 'persona' ? minds : guild };
    const problems = await (host === 'relay' ? agents.play(decks, dice) : PLAYS[host](talk));
    const drawn = decks.takeDrawn();
    counts[`rounds in ${host}`] = (counts[`rounds in ${host}`] ?? 0) + 1;
    counts['attempts put in place'] = (counts['attempts put in place'] ?? 0) + drawn.length;
    violations.push(
      ...problems.map((problem) => `seed ${seed}, round ${round}, ${host}: ${problem}; attempts: ${drawn.join(', ')}`),
    );
    if (round % 50 === 49) log(`${round + 1} of ${rounds} rounds, ${violations.length} violations`);
  }
  return { counts: { ...counts, 'different attempts': decks.tried }, violations };
}
