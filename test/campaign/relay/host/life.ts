import { setTimeout as wait } from 'node:timers/promises';
import type { LocalChannel } from '@cinnabar/local-discord';
import { type Bot, startBot } from './bot.js';
import type { createPeople } from './people.js';
import type { Stage } from './stage.js';

export type People = ReturnType<typeof createPeople>;

/** The end of a process: at its n-th moment, a time after it is ready, or a time after its start. */
export type Death =
  | { readonly kind: 'moment'; readonly number: number }
  | { readonly kind: 'ready'; readonly afterMs: number }
  | { readonly kind: 'start'; readonly afterMs: number };

const POLL_MS = 5;
const LAST_ORDERS = 3;
/** Time limit in real time, also for a busy machine. */
const PATIENCE_MS = 60_000;

/** Prepares the guild as in the README, with two agents, and ends the process. */
export async function furnish(stage: Stage): Promise<void> {
  const { you, channels, application } = stage;
  const [general, maps] = channels;
  const [aurora, scout] = [stage.addAgent('aurora'), stage.addAgent('scout')];
  const bot = startBot(stage.nextOrders());
  try {
    await until(stage, bot, 'logging in', () => bot.isReady());
    const lines: readonly (readonly [LocalChannel, string])[] = [
      [general, `!relay agent ${aurora.id} aurora`],
      [general, `!relay agent ${scout.id} scout <#${maps.id}>`],
      [general, '!relay grant everywhere aurora'],
      [general, '!relay enable'],
      // The judge counts messages of the bot, independent of the agent.
      [general, '!relay config ownName off'],
      [general, '!ai use relay'],
      [general, '!relay config rate_limit_seconds 0'],
      [general, '!relay config agent_timeout 600'],
      [general, '!relay config whenSilent post'],
      [general, '!relay setup aurora'],
      [maps, '!relay setup scout'],
    ];
    for (const [channel, line] of lines) {
      const said = you.say(channel, line);
      const answers = () =>
        channel.messages
          .slice(channel.messages.indexOf(said) + 1)
          .filter(({ author, content }) => author.id === application.user.id && content !== 'I am connected.');
      await until(stage, bot, `an answer to ${line}`, () => answers().length > 0);
      const [answer] = answers();
      if (line.includes('setup') && answer?.content.includes('✗') !== false) {
        throw new Error(`an agent could not be set up: ${answer?.content}`);
      }
    }
  } finally {
    bot.kill();
    await bot.gone;
  }
}

/** A process of the bot in which alice gives some orders, and which is killed. @returns the ids of the events that it has taken */
export async function live(stage: Stage, people: People, orders: number, death: Death): Promise<readonly string[]> {
  const bot = startBot(stage.nextOrders());
  let moments = 0;
  stage.watch(() => {
    moments += 1;
    if (death.kind === 'moment' && moments >= death.number) bot.kill();
  });
  const startedAt = Date.now();
  let readyAt: number | undefined;
  let left = orders;
  const isDue = () => {
    if (death.kind === 'start') return Date.now() - startedAt >= death.afterMs;
    return death.kind === 'ready' && readyAt !== undefined && Date.now() - readyAt >= death.afterMs;
  };
  const isOver = async () => left === 0 && (await isQuiet(stage));
  const step = () => {
    if (!bot.isReady()) return;
    readyAt ??= Date.now();
    if (left > 0 && stage.chance.below(6) === 0) {
      people.order();
      left -= 1;
    }
    people.decide();
  };
  try {
    while (!bot.isDead() && !isDue() && !(await isOver())) {
      if (Date.now() - startedAt > PATIENCE_MS) {
        throw new Error(`a life does not end: ${await stateOf(stage, bot)}`);
      }
      step();
      await wait(POLL_MS);
    }
  } finally {
    stage.watch(() => undefined);
    bot.kill();
    await bot.gone;
  }
  return (await stage.readJournal()).taken;
}

/** The last process, which takes some more orders, and runs until all work is done. */
export async function finish(stage: Stage, people: People): Promise<readonly string[]> {
  const bot = startBot(stage.nextOrders());
  try {
    await until(stage, bot, 'logging in', () => bot.isReady());
    // Expired cards are removed when their member is active.
    people.mumble();
    // The agents still answer after all kills.
    for (let order = 0; order < LAST_ORDERS; order += 1) people.order();
    await until(stage, bot, 'taking the last orders', async () => {
      const { taken } = await stage.readJournal();
      return [...people.said.values()].slice(-LAST_ORDERS).every(({ id }) => taken.includes(`message:${id}`));
    });
    await until(stage, bot, 'the end', async () => {
      people.decide();
      return isQuiet(stage);
    });
  } finally {
    bot.kill();
    await bot.gone;
  }
  return (await stage.readJournal()).taken;
}

/** Whether no event waits, no agent works or waits for a decision, and no card is open. */
async function isQuiet({ readJournal, countOpenCards, letta, agents }: Stage): Promise<boolean> {
  if (agents().some(({ pending }) => pending)) return false;
  if (letta.runs.some(({ status }) => status === 'running' || status === 'created')) return false;
  return (await readJournal()).open.length === 0 && (await countOpenCards()) === 0;
}

/** The remaining work, for an error message. */
async function stateOf({ readJournal, countOpenCards, letta, agents }: Stage, bot: Bot): Promise<string> {
  const { open } = await readJournal();
  return [
    bot.isReady() ? 'logged in' : 'not logged in',
    `${open.length} events open`,
    `runs ${letta.runs.map(({ status }) => status).filter((status) => status !== 'completed')}`,
    ...agents().map(({ name, pending }) => `${name} ${pending ? 'waits' : 'is free'}`),
    `${await countOpenCards()} cards open`,
    bot.complaint(),
  ].join('; ');
}

/** @param what the condition, for an error message @throws when it is not met in time */
async function until(stage: Stage, bot: Bot, what: string, holds: () => boolean | Promise<boolean>): Promise<void> {
  const startedAt = Date.now();
  while (!(await holds())) {
    const isLate = Date.now() - startedAt > PATIENCE_MS;
    if (bot.isDead() || isLate) throw new Error(`it never came to ${what}: ${await stateOf(stage, bot)}`);
    await wait(POLL_MS);
  }
}
