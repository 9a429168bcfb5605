import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { createTestHost, type TestHost } from '@cinnabar/core/testing';
import { type LocalChannel, type LocalMessage, type LocalUser, startLocalDiscord } from '@cinnabar/local-discord';
import { createManualClock } from '@cinnabar/sdk/testing';
import { freePort } from '../../../support/free-port.js';
import { type CuttingProxy, startCuttingProxy } from './cutting-proxy.js';
import { isReal, type LettaUnderTest, startLettaUnderTest } from './letta-under-test.js';
import type { Model, Step } from './model.js';

/** The whole bot in a guild with two channels, with agents at a Letta server, and a connection to it that can be cut. */
export interface Guild extends AsyncDisposable {
  readonly letta: LettaUnderTest;
  readonly line: CuttingProxy;
  readonly general: LocalChannel;
  readonly staff: LocalChannel;
  readonly alice: LocalUser;
  readonly bot: LocalUser;
  /** Sets the behaviour of the agents' models. */
  play(model: Model): void;
  /** Sends a message of an admin. @returns the bot's answer */
  admin(text: string, where?: LocalChannel): Promise<string>;
  /** Sends a message of Alice to the bot. */
  ask(text: string, where?: LocalChannel): LocalMessage;
  /** Creates an agent, sets it up in all channels and connects its tools. All agents but the first receive only messages with their name. @returns its id */
  settle(name: string): Promise<string>;
  /** Connects an agent's tools. @returns the bot's answer */
  setUp(name: string): Promise<string>;
  /** All messages of the bot since a message, each after the name of its channel. */
  saidSince(message: LocalMessage): readonly string[];
  /** Resolves once the bot has sent that number of messages since, and is silent. @returns them, as `saidSince` */
  answers(since: LocalMessage, count?: number): Promise<readonly string[]>;
  /** Resolves as soon as the condition holds. @throws after a long time */
  until(what: string, holds: () => boolean): Promise<void>;
  /** Stops the bot as an admin does, and starts it again after `meanwhile`. */
  restart(meanwhile?: () => Promise<void>): Promise<void>;
}

/** Speed of the clocks of the stand-in and the bot. A real server uses real time. */
const PACE = isReal ? 1 : 40;
const TICK_MS = 5;
const PATIENCE_MS = isReal ? 300_000 : 30_000;
/** Duration of silence after the last message, by the clock of the bot. */
const SILENCE_MS = 3_000;

export async function openGuild(): Promise<Guild> {
  const clock = createManualClock();
  clock.advance(Math.max(0, Date.now() - clock.now()));
  let at = Date.now();
  // Plugins are loaded in real time.
  let pace = 1;
  const ticking = setInterval(() => {
    const now = Date.now();
    // A pause of this process is no time in which the stand-in could have answered.
    clock.advance((isReal ? now - at : Math.min(now - at, TICK_MS)) * pace);
    at = now;
  }, TICK_MS);
  let model: Model = () => ({ say: 'Hello.' });
  const letta = await startLettaUnderTest(
    (question) => connected(question.prompt, question.results) ?? model(question),
    clock,
  );
  const line = await startCuttingProxy(letta.baseUrl);
  const discord = await startLocalDiscord({ clock });
  discord.requests.enabled = false;
  const [you, alice, bob] = [
    discord.createUser({ name: 'you' }),
    discord.createUser({ name: 'alice' }),
    discord.createUser({ name: 'bob' }),
  ];
  const application = discord.createApplication({ name: 'Cinnabar', owner: you });
  const guild = discord.createGuild({ name: 'Night City', owner: you });
  guild.invite(application);
  guild.join(alice);
  guild.join(bob);
  const general = guild.createChannel({ name: 'general' });
  const staff = guild.createChannel({ name: 'staff' });
  const world = { discord, application, guild, general, you, alice, bob, clock };
  const dataDir = await mkdtemp(join(tmpdir(), 'cinnabar-relay-server-'));
  const port = await freePort();
  const boot = async () => {
    pace = 1;
    const booted = await createTestHost({
      world,
      dataDir,
      plugins: ['ai', 'relay', 'discord-tools', 'mcp', 'confirm'],
      settings: { mcp: { listen: `127.0.0.1:${port}`, callsPerMinute: 10_000 } },
      env: { LETTA_BASE_URL: line.baseUrl, LETTA_API_KEY: process.env.LETTA_API_KEY ?? 'test-key' },
    });
    pace = PACE;
    return booted;
  };
  let host: TestHost = await boot();

  const saidSince = (message: LocalMessage) =>
    [general, staff].flatMap((channel) =>
      channel.messages
        .filter(({ id, author }) => author.id === application.user.id && BigInt(id) > BigInt(message.id))
        // The notice about a pinned message has no text.
        .filter(({ content }) => content !== '')
        .map(({ content }) => `#${channel.name}: ${content}`),
    );
  const until = async (what: string, holds: () => boolean) => {
    for (const end = Date.now() + PATIENCE_MS; !holds(); await wait(TICK_MS)) {
      if (Date.now() > end) throw new Error(`it never came to ${what}`);
    }
  };
  const quiet = async (read: () => readonly string[]) => {
    for (let [before, since] = ['', clock.now()]; clock.now() - since < SILENCE_MS; await wait(TICK_MS)) {
      await discord.settled();
      const now = read().join('\n');
      if (now !== before) [before, since] = [now, clock.now()];
    }
    return read();
  };
  const answers = async (since: LocalMessage, count = 1) => {
    await until(`${count} answers to "${since.content}"`, () => saidSince(since).length >= count);
    return quiet(() => saidSince(since));
  };
  /** Other messages may arrive meanwhile: the answer to an admin is a reply. */
  const admin = async (text: string, where = general) => {
    const said = you.say(where, text);
    const answer = () =>
      where.messages.find(({ author, replyTo }) => author.id === application.user.id && replyTo === said);
    await until(`an answer to ${text}`, () => (answer()?.content ?? '') !== '');
    await quiet(() => [answer()?.content ?? '']);
    return answer()?.content ?? '';
  };
  const setUp = async (name: string) => {
    const report = await admin(`!relay setup ${name}`);
    if (report.includes('✗')) throw new Error(`${name} could not be set up: ${report}`);
    return report;
  };

  await admin('!relay enable');
  // The bot posts agents' answers unchanged, for comparison.
  await admin('!relay config ownName off');
  await admin('!ai use relay');
  await admin('!relay config rate_limit_seconds 0');
  await admin('!relay config whenSilent post');
  await admin('!relay config agent_timeout 600');
  await admin('!relay config enable_typing_indicator false');
  return {
    letta,
    line,
    general,
    staff,
    alice,
    bot: application.user,
    play(next) {
      model = next;
    },
    admin,
    ask: (text, where = general) => alice.say(where, `${application.user} ${text}`),
    async settle(name) {
      const id = await letta.addAgent(name);
      await admin(`!relay agent ${id} ${name}`);
      await admin(`!relay grant everywhere ${name}`);
      await setUp(name);
      return id;
    },
    setUp,
    saidSince,
    answers,
    until,
    async restart(meanwhile) {
      await host.stop();
      await meanwhile?.();
      host = await boot();
    },
    async [Symbol.asyncDispose]() {
      await host.stop();
      clearInterval(ticking);
      await line[Symbol.asyncDispose]();
      await letta[Symbol.asyncDispose]();
      await discord.close();
      await rm(dataDir, { recursive: true, force: true });
    },
  };
}

/** The behaviour of any agent during its setup. */
function connected(prompt: string, results: readonly string[]): Step | undefined {
  const channelId = /^This is a test of your connection[\s\S]*channelId (\d+)/.exec(prompt)?.[1];
  if (channelId === undefined) return undefined;
  if (results.length > 0) return { say: 'Done.' };
  return { calls: [{ name: 'discord_send', args: { channelId, message: 'I am connected.' } }] };
}
