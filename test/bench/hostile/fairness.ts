import { setTimeout as sleep } from 'node:timers/promises';
import { type LocalChannel, type LocalUser, startLocalDiscord } from '@cinnabar/local-discord';
import { startBot } from '../bot-process.js';
import { compareRounds, type Figure, percentile } from '../report.js';

const ASKED = 40;
const CHANNELS = 24;
const MEMBERS = 72;
const PATIENCE_MS = 60_000;

/** Measures how long a member waits for an answer while many members of another server keep the bot busy in many channels, compared with an idle bot. */
export async function* fairness(rounds = 3): AsyncGenerator<Figure> {
  const discord = await startLocalDiscord({ keepMessages: 200 });
  discord.requests.enabled = false;
  const you = discord.createUser({ name: 'you' });
  const bob = discord.createUser({ name: 'bob' });
  const application = discord.createApplication({ name: 'cinnabar', owner: you });
  const [quiet, busy] = ['quiet', 'busy'].map((name) => {
    const guild = discord.createGuild({ name, owner: you });
    guild.invite(application);
    return guild;
  });
  if (quiet === undefined || busy === undefined) throw new Error('there are two guilds');
  quiet.join(bob);
  const lobby = quiet.createChannel({ name: 'lobby' });
  const crowd = Array.from({ length: MEMBERS }, (_, at) => discord.createUser({ name: `member-${at}` }));
  for (const member of crowd) busy.join(member);
  const halls = Array.from({ length: CHANNELS }, (_, at) => busy.createChannel({ name: `hall-${at}` }));
  const bot = await startBot('hostile', discord, application, undefined, { PAGES_PORT: '1' });

  /** Resolves with the bot's response time in ms. */
  const ask = async (channel: LocalChannel, member: LocalUser, text: string): Promise<number> => {
    const asked = performance.now();
    const question = member.say(channel, text);
    const isAnswered = () => channel.messages.some(({ replyTo }) => replyTo === question);
    while (!isAnswered()) {
      if (performance.now() - asked > PATIENCE_MS) throw new Error(`no answer to ${text}`);
      await sleep(2);
    }
    return performance.now() - asked;
  };
  const p95 = async () => {
    const times: number[] = [];
    for (let n = 0; n < ASKED; n += 1) times.push(await ask(lobby, bob, `!ai question ${n}`));
    return percentile(times, 95);
  };
  const flooded = async (work: () => Promise<number>) => {
    let isOver = false;
    const flood = crowd.map(async (member, at) => {
      const hall = halls[at % CHANNELS];
      while (!isOver && hall !== undefined) await ask(hall, member, '!ai again');
    });
    // Waits until all worker slots of the busy server are in use.
    await sleep(1_000);
    const result = await work();
    isOver = true;
    await Promise.all(flood);
    return result;
  };

  try {
    for (const channel of [lobby, halls[0]]) {
      if (channel === undefined) continue;
      await ask(channel, you, '!ai use slow');
      await ask(channel, you, '!set ai turnsPerMinute 0');
    }
    await ask(lobby, bob, '!ai warm up');
    const [alone, beside]: [number[], number[]] = [[], []];
    for (let round = 0; round < rounds; round += 1) {
      alone.push(await p95());
      beside.push(await flooded(p95));
    }
    yield compareRounds({
      name: `hostile: p95 of ${ASKED} answers beside a server with ${MEMBERS} members asking`,
      unit: 'ms',
      ours: beside,
      peer: alone,
      peerName: 'alone',
      atMost: 1.5,
    });
  } finally {
    await bot.stop();
    await discord.close();
  }
}
