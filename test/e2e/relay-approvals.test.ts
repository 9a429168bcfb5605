import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type AgentTurn, type LettaStandIn, startLettaStandIn } from '@cinnabar/local-letta';
import { createManualClock } from '@cinnabar/sdk/testing';
import { expect } from 'chai';
import { type AgentBot, answering, startAgentBot } from '../plugins/relay/harness.js';
import { freePort } from '../support/free-port.js';

const post = answering('Here I am.');

/** An agent that calls its tool `wipe` on request, and reports the outcome. */
const CAUTIOUS = async (turn: AgentTurn) => {
  if (!turn.prompt.includes('wipe it')) return post(turn);
  const wiped = await turn.callTool('wipe_disk', { disk: 'sda', force: true }, { approval: true });
  await answering(`${wiped.status}: ${wiped.text}`)(turn);
};

describe('relay: tools of an agent’s own that need an approval', () => {
  let letta: LettaStandIn;
  let bot: AgentBot;
  let folder: string;
  let port: number;
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'cinnabar-relay-'));
    const clock = createManualClock();
    letta = await startLettaStandIn({ clock, script: CAUTIOUS });
    // The Letta server stores the address of the bot's tools, so it must be the same after a restart.
    port = await freePort();
    bot = await startAgentBot({ letta, dataDir: folder, clock, port });
    const { id } = letta.addAgent({ name: 'aurora', tools: { wipe_disk: () => 'The disk is wiped.' } });
    await bot.admin(`!relay agent ${id} aurora`);
    await bot.admin('!relay enable');
    await bot.admin('!ai use relay');
    await bot.admin('!relay setup');
  });
  afterEach(async () => {
    await bot[Symbol.asyncDispose]();
    await letta[Symbol.asyncDispose]();
    await rm(folder, { recursive: true, force: true });
  });

  const cardOf = () =>
    bot.discord.expectMessage({ author: bot.bot, content: /I'll let the agent aurora use its tool wipe/ });

  it('are asked for by a card with every argument, and used after a 👍 of the member', async () => {
    await bot.says(bot.alice, `${bot.bot} wipe it`);
    const card = await cardOf();
    expect(card.content).to.include('sda').and.include('force');
    bot.bob.react(card, '👍');
    await bot.quiet();
    expect(letta.runs.at(-1)?.status).to.not.equal('running');
    bot.alice.react(card, '👍');
    await bot.quiet();
    await bot.discord.expectMessage({ author: bot.bot, content: 'success: The disk is wiped.' });
  });

  it('are not used after a 👎, which the agent gets as the result', async () => {
    await bot.says(bot.alice, `${bot.bot} wipe it`);
    bot.alice.react(await cardOf(), '👎');
    await bot.quiet();
    await bot.discord.expectMessage({ author: bot.bot, content: /^denied: / });
  });

  it('are not used without a decision in time', async () => {
    await bot.says(bot.alice, `${bot.bot} wipe it`);
    await cardOf();
    await bot.advance(63_000);
    await bot.quiet();
    await bot.discord.expectMessage({ author: bot.bot, content: /^denied: / });
  });

  it('leave no agent waiting when the bot is started again', async () => {
    const agent = letta.runs.at(-1)?.agentId;
    await bot.says(bot.alice, `${bot.bot} wipe it`);
    const card = await cardOf();
    expect(card.content).to.not.match(/^~~/);
    await bot.stop();
    const before = bot;
    bot = await startAgentBot({ letta, dataDir: folder, world: before, port });
    await bot.quiet();
    expect(card.content).to.match(/^~~/);
    await bot.discord.expectMessage({ author: bot.bot, content: /^denied: .*The bot was restarted/ });
    await bot.says(bot.alice, `${bot.bot} are you there?`);
    await bot.advance(2_000);
    await bot.quiet();
    await bot.discord.expectMessage({ author: bot.bot, content: 'Here I am.', since: card });
    expect(letta.runs.at(-1)?.agentId).to.equal(agent);
    await before[Symbol.asyncDispose]();
  });
});
