import { createTestHost, type TestHost, type TestHostOptions } from '@cinnabar/core/testing';
import type { LocalChannel, LocalMessage, LocalUser } from '@cinnabar/local-discord';
import {
  type AgentScript,
  type LettaStandIn,
  type LettaStandInOptions,
  startLettaStandIn,
} from '@cinnabar/local-letta';
import { createManualClock } from '@cinnabar/sdk/testing';
import { inNewGuild } from '../../support/shared-host.js';

export interface AgentBotOptions
  extends Partial<Pick<TestHostOptions, 'world' | 'dataDir' | 'env' | 'permissions' | 'clock'>> {
  readonly script?: AgentScript;
  readonly letta?: LettaStandIn;
  readonly stand?: LettaStandInOptions;
  /** Port of the MCP endpoint; default: a free port for each bot. */
  readonly port?: number;
  readonly plugins?: readonly string[];
}

/** A bot with an agent at a stand-in Letta server that calls the bot's tools over MCP. */
export interface AgentBot extends TestHost {
  readonly letta: LettaStandIn;
  /** Sends a message of an admin. @returns the bot's reply */
  admin(text: string, where?: LocalChannel): Promise<string>;
  /** Sends a message, and waits until every agent that receives it has finished. */
  says(user: LocalUser, text: string, where?: LocalChannel, replyTo?: LocalMessage): Promise<LocalMessage>;
  /** Resolves when the bot and every agent are idle. */
  quiet(): Promise<void>;
  /** Prompts of agents, oldest first. */
  readonly prompts: readonly string[];
}

export async function startAgentBot(options: AgentBotOptions = {}): Promise<AgentBot> {
  const clock = options.world?.clock ?? options.clock ?? createManualClock();
  const letta = options.letta ?? (await startLettaStandIn({ clock, ...options.stand, ...scriptOf(options.script) }));
  const host = await createTestHost({
    plugins: ['ai', 'relay', 'discord-tools', 'mcp', 'confirm', ...(options.plugins ?? [])],
    settings: { mcp: { listen: `127.0.0.1:${options.port ?? 0}`, callsPerMinute: 10_000 }, confirm: {} },
    env: { LETTA_BASE_URL: letta.baseUrl, LETTA_API_KEY: 'test-key', ...options.env },
    ...(options.world === undefined ? { clock } : { world: options.world }),
    ...(options.dataDir === undefined ? {} : { dataDir: options.dataDir }),
    ...(options.permissions === undefined ? {} : { permissions: options.permissions }),
  });
  return botOn(host, letta, async () => {
    await host[Symbol.asyncDispose]();
    if (options.letta === undefined) await letta[Symbol.asyncDispose]();
  });
}

/**
 * One bot and one Letta server for all tests of a suite.
 * @returns opens a new guild on it: `letta` adds the agents of that guild, and its `runs` are theirs
 */
export function shareAgentBot(options: AgentBotOptions = {}): () => Promise<AgentBot> {
  let shared: AgentBot;
  before(async () => {
    shared = await startAgentBot(options);
  });
  after(() => shared[Symbol.asyncDispose]());
  return async () => {
    const host = await inNewGuild(shared);
    return botOn(host, withOwnAgents(shared.letta), async () => {
      shared.letta.faults.clear();
      await host[Symbol.asyncDispose]();
    });
  };
}

function withOwnAgents(letta: LettaStandIn): LettaStandIn {
  const own = new Set<string>();
  return {
    ...letta,
    addAgent(init) {
      const agent = letta.addAgent(init);
      own.add(agent.id);
      return agent;
    },
    get runs() {
      return letta.runs.filter(({ agentId }) => own.has(agentId));
    },
    get mostAtOnce() {
      return letta.mostAtOnce;
    },
  };
}

function botOn(host: TestHost, letta: LettaStandIn, dispose: () => Promise<void>): AgentBot {
  const quiet = async () => {
    for (let round = 0; round < 3; round += 1) {
      await host.settled();
      await letta.idle();
    }
    await host.settled();
  };
  return {
    ...host,
    get log() {
      return host.log;
    },
    letta,
    quiet,
    async admin(text, where = host.general) {
      const since = host.you.say(where, text);
      await quiet();
      return (await host.discord.expectMessage({ channel: where, author: host.bot, since })).content;
    },
    async says(user, text, where = host.general, replyTo) {
      const said = user.say(where, text, replyTo === undefined ? {} : { replyTo });
      await quiet();
      return said;
    },
    get prompts() {
      return letta.runs.flatMap(({ prompt }) => prompt ?? []);
    },
    [Symbol.asyncDispose]: dispose,
  };
}

const scriptOf = (script: AgentScript | undefined) => (script === undefined ? {} : { script });

/** An agent that posts in the channel of the prompt, as a reply if the prompt names a message. It follows the instructions of `!relay setup`. */
export const answering =
  (words: string): AgentScript =>
  async (turn) => {
    const { channelId, messageId } = namedIn(turn.prompt);
    const isTrial = turn.prompt.startsWith('This is a test of your connection');
    const reply = messageId === undefined ? {} : { replyToMessageId: messageId };
    await turn.callTool('discord_send', { channelId, message: isTrial ? 'I am connected.' : words, ...reply });
  };

/** The channel and the message in a prompt. */
export function namedIn(prompt: string) {
  const channel = /- Channel: .* \(ID: (\d+)\)|\*\*Channel \(DM\) ID:\*\* (\d+)|channelId (\d+)/.exec(prompt);
  const messageId = /^\*{0,2}(?:- )?Message ID:\*{0,2} (\d+)$/m.exec(prompt)?.[1];
  return { channelId: channel?.[1] ?? channel?.[2] ?? channel?.[3], messageId };
}

/** Sets up an agent without tools, which receives messages to the bot. @returns its id at the server */
export async function letIn(bot: AgentBot, name = 'aurora'): Promise<string> {
  const { id } = bot.letta.addAgent({ name });
  await bot.admin(`!relay agent ${id} ${name}`);
  await bot.admin('!relay enable');
  await bot.admin('!ai use relay');
  return id;
}

/** Sets up an agent with the bot's tools, as in the README. @returns its id at the server */
export async function settleAgent(bot: AgentBot, name = 'aurora'): Promise<string> {
  const id = await letIn(bot, name);
  await bot.admin(`!relay setup ${name}`);
  return id;
}
