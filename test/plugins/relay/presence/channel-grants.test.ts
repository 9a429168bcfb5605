import { expect } from 'chai';
import { type AgentBot, answering, letIn, settleAgent, shareAgentBot } from '../harness.js';

const HOUR_MS = 60 * 60_000;

describe('relay: nothing reaches an agent from a channel that it has not been let into', () => {
  let bot: AgentBot;
  const open = shareAgentBot({ script: answering('Noted.') });
  beforeEach(async () => {
    bot = await open();
  });
  afterEach(() => bot[Symbol.asyncDispose]());
  const later = async (ms: number) => {
    await bot.advance(ms);
    await bot.quiet();
  };

  it('no digest', async () => {
    await letIn(bot);
    const staff = bot.guild.createChannel({ name: 'staff' });
    await bot.admin('!relay mode digest', staff);
    await bot.says(bot.alice, 'The plan is secret', staff);
    await later(2 * HOUR_MS);
    expect(bot.prompts).to.deep.equal([]);
    await bot.admin(`!relay grant channel <#${staff.id}>`);
    await bot.says(bot.alice, 'The plan is known', staff);
    await later(2 * HOUR_MS);
    expect(bot.prompts.join()).to.include('The plan is known');
  });

  it('no wake-up, and the member who plans one is told so', async () => {
    await letIn(bot);
    const staff = bot.guild.createChannel({ name: 'staff' });
    expect(await bot.admin('!relay wake "every 4h" Look around', staff)).to.include('has not been let into');
    expect(await bot.admin('!relay wake')).to.include('No wake-up is planned');
  });

  it('nothing that waited when the channel was taken from it', async () => {
    await letIn(bot);
    await bot.admin('!relay pause');
    await bot.says(bot.alice, `${bot.bot} a secret`);
    await bot.admin(`!relay ungrant channel <#${bot.general.id}>`);
    await bot.admin('!relay resume');
    await later(HOUR_MS);
    expect(bot.prompts).to.deep.equal([]);
  });

  it('no reaction', async () => {
    await settleAgent(bot);
    await bot.says(bot.alice, `${bot.bot} note this`);
    const answer = await bot.discord.expectMessage({ author: bot.bot, content: 'Noted.' });
    await bot.admin(`!relay ungrant channel <#${bot.general.id}>`);
    const told = bot.prompts.length;
    bot.bob.react(answer, '👀');
    await later(HOUR_MS);
    expect(bot.prompts).to.have.length(told);
  });
});
