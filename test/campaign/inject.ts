import { createDice } from './confirm/dice.js';
import { ATTEMPTS, createDecks } from './inject/decks.js';
import { playTalk } from './inject/talk.js';
import { openTown } from './inject/town.js';
import type { CampaignOptions, CampaignResult } from './main.js';

const ROUNDS_PER_GUILD = 4;
/** How many turns a member has is counted by the minute. */
const ALLOWANCE_MS = 61_000;

/**
 * Members, bots, webhooks, tools and files that pose as somebody else: what reaches the model's service, and the agents' server, is read by
 * parsers of its form, and must hold exactly what was said, by exactly who said it.
 */
export async function injectCampaign({ seed, rounds, log }: CampaignOptions): Promise<CampaignResult> {
  const dice = createDice(Math.imul(seed, 0x9e3779b1));
  const decks = createDecks(dice);
  const violations: string[] = [];
  const counts: Record<string, number> = { attempts: ATTEMPTS };
  await using town = await openTown();
  let guild = town.host.guild;
  const hosts = ['chat', 'prefill'] as const;
  for (let round = 0; round < rounds; round += 1) {
    if (round % ROUNDS_PER_GUILD === 1) guild = town.openGuild(decks.draw('guild').text);
    const host = hosts[round % hosts.length] ?? 'chat';
    await town.host.advance(ALLOWANCE_MS);
    const problems = await playTalk({ town, decks, dice, guild }, host);
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
