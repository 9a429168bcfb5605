import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import type { LocalChannel, LocalMessage } from '@cinnabar/local-discord';
import { SettingsCatalog, Tasks } from '@cinnabar/sdk';
import { createDice, type Dice } from './confirm/dice.js';
import type { CampaignOptions, CampaignResult } from './main.js';
import { openWorkplace, type Workplace } from './stops/workplace.js';

const LATEST_STOP_MS = 1_200;
const PATIENCE_MS = 8_000;
const MOST_MS_TO_ACKNOWLEDGE = 1_000;
/** Time after which all running work must have ended. */
const AFTERMATH_MS = 60;

/**
 * Tasks without an end, with a real provider over HTTP, slow tools, child processes, questions and approvals; `rounds` of them are stopped at random moments
 * with the button. After the acknowledgement no request to the model begins, nothing keeps running, and one message follows.
 */
export async function stopsCampaign({ seed, rounds, log }: CampaignOptions): Promise<CampaignResult> {
  const dataDir = await mkdtemp(join(tmpdir(), 'cinnabar-campaign-stops-'));
  const violations: string[] = [];
  const acknowledged: number[] = [];
  const counts: Record<string, number> = { stops: 0 };
  try {
    const dice = createDice(seed);
    await using place = await openWorkplace(dataDir, dice);
    const { userId, guildId, channelId } = place.owner;
    const owner = { userId, guildId, channelId };
    await place.host.resolve(SettingsCatalog).set('tasks', 'stepDelayMs', '0', owner);
    await place.host.resolve(SettingsCatalog).set('tasks', 'maxIdleSteps', '100', owner);
    for (let round = 0; round < rounds; round++) {
      const { during, ms, wrong } = await stopOnce(place, dice, round);
      acknowledged.push(ms);
      counts.stops = round + 1;
      counts[`stopped while ${during}`] = (counts[`stopped while ${during}`] ?? 0) + 1;
      violations.push(...wrong.map((what) => `seed ${seed}, stop ${round}, while ${during}: ${what}`));
      if ((round + 1) % 25 === 0) log(`${round + 1} stops, ${violations.length} violations`);
    }
    Object.assign(counts, place.counts());
  } finally {
    await rm(dataDir, { recursive: true, force: true, maxRetries: 5 });
  }
  const p95 = percentile(acknowledged, 0.95);
  if (p95 > MOST_MS_TO_ACKNOWLEDGE) violations.push(`a stop was acknowledged after ${p95} ms (95th percentile)`);
  return {
    counts: {
      ...counts,
      'acknowledged, median ms': percentile(acknowledged, 0.5),
      'acknowledged, 95th percentile ms': p95,
      'acknowledged, slowest ms': Math.max(...acknowledged),
    },
    violations,
  };
}

async function stopOnce(place: Workplace, dice: Dice, round: number) {
  const { host, alice } = place;
  const tasks = host.resolve(Tasks);
  const channel = place.guild.createChannel({ name: `round-${round}` });
  alice.say(channel, `!task Work without end, round ${round}`);
  const status = await found(() => saidIn(place, channel)[0]);
  await wait(dice.between(0, LATEST_STOP_MS));

  const open = (await tasks.list({ guildId: place.guild.id })).find(({ originalPrompt }) =>
    originalPrompt.endsWith(` ${round}`),
  );
  const clickedAt = performance.now();
  const click = alice.click(status, 'Stop');
  await click.answered();
  const ms = Math.round(performance.now() - clickedAt);
  const atAck = {
    requests: place.model.requests.length,
    tools: place.begun(),
    messages: wordsIn(place, channel).length,
  };
  const wrong: string[] = [];
  if (click.response?.content.includes('Stopped') !== true) wrong.push(`the answer was ${click.response?.content}`);

  const ending = await found(() => wordsIn(place, channel).find(({ content }) => content.includes('**Task stopped**')));
  await wait(AFTERMATH_MS);
  const { requests } = place.model;
  if (requests.length > atAck.requests)
    wrong.push(`${requests.length - atAck.requests} requests to the model began afterwards`);
  if (requests.some((request) => request.ending === undefined)) wrong.push('a request to the model went on');
  if (place.begun() > atAck.tools) wrong.push('a tool began afterwards');
  if (place.running() > 0) wrong.push('a tool went on');
  if (place.children() > 0) wrong.push('a child process went on');
  const words = wordsIn(place, channel);
  if (words.length > atAck.messages + 1) wrong.push(`${words.length - atAck.messages} messages followed`);
  if (words.at(-1) !== ending) wrong.push(`something followed the end: ${words.at(-1)?.content}`);
  const cards = saidIn(place, channel).filter((message) =>
    JSON.stringify(message.components).includes('"label":"Once"'),
  );
  if (cards.length > 0) wrong.push('a request for approval stayed open');
  const task = open === undefined ? undefined : await tasks.get(open.id);
  if (task?.status !== 'cancelled') wrong.push(`the task is ${task?.status}`);
  return { during: open?.status ?? 'nothing', ms, wrong };
}

/** All messages of the bot in the channel and its threads. */
function saidIn({ guild, bot }: Workplace, channel: LocalChannel): readonly LocalMessage[] {
  const threads = [...guild.threads.values()].filter(({ parent }) => parent === channel);
  return [channel, ...threads].flatMap((one) => one.messages.filter(({ author }) => author.id === bot.id));
}

/** Messages of tasks, without cards, which are the host's. */
function wordsIn(place: Workplace, channel: LocalChannel): readonly LocalMessage[] {
  return saidIn(place, channel).filter(({ content }) => /^-# .* task \w+$/m.test(content));
}

async function found<T>(look: () => T | undefined): Promise<T> {
  const started = performance.now();
  for (;;) {
    const it = look();
    if (it !== undefined) return it;
    if (performance.now() - started > PATIENCE_MS) throw new Error('what was waited for never came');
    await wait(2);
  }
}

function percentile(values: readonly number[], part: number): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * part))] ?? 0;
}
