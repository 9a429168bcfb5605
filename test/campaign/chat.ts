import type { LocalMessage } from '@cinnabar/local-discord';
import { DISCORD_FAULTS } from './chat/discord-faults.js';
import { type ChatHarness, openChatHarness, PROVIDERS } from './chat/harness.js';
import { KINDS, type Kind, PAUSED } from './chat/kinds.js';
import { createDice, type Dice } from './confirm/dice.js';
import type { CampaignOptions, CampaignResult } from './main.js';

/** A new local Discord is started after this number of rounds, because it keeps everything in memory. */
const ROUNDS_PER_TOWN = 125;
const TYPING_LASTS_MS = 30_000;
const MOST_AT_ONCE = 3;

interface Round {
  readonly harness: ChatHarness;
  readonly dice: Dice;
  readonly name: string;
  readonly counts: Record<string, number>;
}

/**
 * Messages to the bot while models and Discord fail in every way: each person gets the answer or a sentence about the failure, once; typing stops; no promise
 * rejects unhandled.
 */
export async function chatCampaign({ seed, rounds, log }: CampaignOptions): Promise<CampaignResult> {
  const counts: Record<string, number> = { activations: 0 };
  const violations: string[] = [];
  const onRejection = (reason: unknown) => violations.push(`unhandled rejection: ${String(reason)}`);
  process.on('unhandledRejection', onRejection);
  try {
    for (let played = 0, harnesses = 0; played < rounds; played += ROUNDS_PER_TOWN, harnesses += 1) {
      const provider = PROVIDERS[harnesses % PROVIDERS.length] ?? 'openai';
      await using harness = await openChatHarness(provider, harnesses % 4 >= 2);
      for (let round = played; round < Math.min(rounds, played + ROUNDS_PER_TOWN); round += 1) {
        const name = `seed ${seed + round}, ${provider}`;
        violations.push(
          ...(await playRound({ harness, dice: createDice(Math.imul(seed + round + 1, 0x9e3779b1)), name, counts })),
        );
      }
      log(`${Math.min(rounds, played + ROUNDS_PER_TOWN)} of ${rounds} rounds, ${violations.length} violations`);
    }
  } finally {
    process.off('unhandledRejection', onRejection);
  }
  return { counts, violations };
}

async function playRound({ harness, dice, name, counts }: Round): Promise<readonly string[]> {
  const { host } = harness;
  const kind = dice.pick(KINDS);
  const { name: fault, inject } = dice.pick(DISCORD_FAULTS);
  for (const what of [`model: ${kind.name}`, `Discord: ${fault}`]) counts[what] = (counts[what] ?? 0) + 1;
  const answer = `The answer of ${name}.`;
  harness.script(kind.steps(answer));
  const before = host.general.messages.length;
  const people = [host.alice, host.bob, host.you] as const;
  const asked = Array.from({ length: dice.between(1, MOST_AT_ONCE) }, (_, index) => {
    counts.activations = (counts.activations ?? 0) + 1;
    return dice.pick(people).say(host.general, `${host.bot} question ${index} of ${name}`);
  });
  inject(host.discord);
  await harness.run();
  host.discord.faults.clear();

  const said = host.general.messages.slice(before).filter(({ author }) => author.id === host.bot.id);
  const where = `${name}, model: ${kind.name}, Discord: ${fault}, ${asked.length} at once`;
  const violations = [
    ...judgeAnswers(
      said.map(({ content }) => content),
      kind,
      answer,
    ).map((violation) => `${where}: ${violation}`),
    ...asked
      .filter((message) => said.filter(({ replyTo }) => replyTo === message).length > 1)
      .map((message) => `${where}: answered more than once: ${message.content}`),
    ...lostOf(harness, asked, said).map((content) => `${where}: nobody has seen ${content}`),
  ];
  const typed = () => host.discord.requests.of('POST', '/channels/:channelId/typing').length;
  const then = typed();
  await host.advance(TYPING_LASTS_MS);
  if (typed() !== then) violations.push(`${where}: still typing`);
  return violations;
}

/** The first answer has to fit the kind of the round; later answers come from the rest of the script. */
function judgeAnswers(said: readonly string[], kind: Kind, answer: string): readonly string[] {
  const { says } = kind;
  const isAsked = (content: string) => (says === 'answer' ? content === answer : says.test(content));
  if (said.length === 0) return ['nothing was said'];
  const found = said.filter(isAsked).length;
  const violations: string[] = [];
  if (says === 'answer' && found > 1) violations.push(`said ${found} times`);
  if (found === 0 && !said.some((content) => PAUSED.test(content))) {
    violations.push(`expected ${says === 'answer' ? answer : says}, said ${JSON.stringify(said)}`);
  }
  const partial = said.find((content) => /^This answer (is cut|ends)/.test(content));
  return partial === undefined ? violations : [...violations, `half an answer was left: ${partial}`];
}

/** Messages without a request to the model and without an answer. A person who asks twice gets one notice of the failure. */
function lostOf(
  { model }: ChatHarness,
  asked: readonly LocalMessage[],
  said: readonly LocalMessage[],
): readonly string[] {
  const recent = model.requests.slice(-12).map(({ body }) => JSON.stringify(body));
  const told = new Set(said.map(({ replyTo }) => asked.find((message) => message === replyTo)?.author.id));
  return asked
    .filter(({ author }) => !told.has(author.id))
    .map(({ content }) => content.replace(/^\S+ /, ''))
    .filter((question) => !recent.some((body) => body.includes(question)));
}
