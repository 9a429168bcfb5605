import { createTestHost, type TestHost, type TestHostOptions } from '@cinnabar/core/testing';
import type { LocalChannel, LocalMessage, LocalUser } from '@cinnabar/local-discord';
import {
  type AgentScript,
  type LettaStandIn,
  type LettaStandInOptions,
  startLettaStandIn,
} from '@cinnabar/local-letta';
import { createManualClock } from '@cinnabar/sdk/testing';

export interface AgentBotOptions
  extends Partial<Pick<TestHostOptions, 'world' | 'dataDir' | 'env' | 'permissions' | 'clock'>> {
  readonly script?: AgentScript;
  readonly letta?: LettaStandIn;
  readonly stand?: LettaStandInOptions;
  /** Where the tools are offered; a port of its own for each bot by default. */
  readonly port?: number;
  readonly plugins?: readonly string[];
}

/** A bot with an agent at a stand-in Letta server that really calls the bot's tools over MCP. */
export interface AgentBot extends TestHost {
  readonly letta: LettaStandIn;
  /** An admin says something in a channel; what the bot replies. */
  admin(text: string, where?: LocalChannel): Promise<string>;
  /** Somebody says something, and every agent that is told of it has ended. */
  says(user: LocalUser, text: string, where?: LocalChannel, replyTo?: LocalMessage): Promise<LocalMessage>;
  /** Resolves when the bot and every agent have done what there is to do. */
  quiet(): Promise<void>;
  /** What agents were told, oldest first. */
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
  const quiet = async () => {
    for (let round = 0; round < 3; round += 1) {
      await host.settled();
      await letta.idle();
    }
    await host.settled();
  };
  return {
    ...host,
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
    async [Symbol.asyncDispose]() {
      await host[Symbol.asyncDispose]();
      if (options.letta === undefined) await letta[Symbol.asyncDispose]();
    },
  };
}

const scriptOf = (script: AgentScript | undefined) => (script === undefined ? {} : { script });

/** Posts in the channel that the prompt names, as a reply where it names a message. What it is told in `!relay setup` it does. */
export const answering =
  (words: string): AgentScript =>
  async (turn) => {
    const { channelId, messageId } = namedIn(turn.prompt);
    const isTrial = turn.prompt.startsWith('This is a test of your connection');
    const reply = messageId === undefined ? {} : { replyToMessageId: messageId };
    await turn.callTool('discord_send', { channelId, message: isTrial ? 'I am connected.' : words, ...reply });
  };

/** The channel and the message that a prompt is about. */
export function namedIn(prompt: string) {
  const channel = /- Channel: .* \(ID: (\d+)\)|\*\*Channel \(DM\) ID:\*\* (\d+)|channelId (\d+)/.exec(prompt);
  const messageId = /^\*{0,2}(?:- )?Message ID:\*{0,2} (\d+)$/m.exec(prompt)?.[1];
  return { channelId: channel?.[1] ?? channel?.[2] ?? channel?.[3], messageId };
}

/** Lets an agent in and sends it what is said to the bot; it has no tools. @returns its id at the server */
export async function letIn(bot: AgentBot, name = 'aurora'): Promise<string> {
  const { id } = bot.letta.addAgent({ name });
  await bot.admin(`!relay agent ${id} ${name}`);
  await bot.admin('!relay enable');
  await bot.admin('!ai use relay');
  return id;
}

/** The same, and gives it the bot's tools, as the README says. */
export async function settleAgent(bot: AgentBot, name = 'aurora'): Promise<string> {
  const id = await letIn(bot, name);
  await bot.admin(`!relay setup ${name}`);
  return id;
}
