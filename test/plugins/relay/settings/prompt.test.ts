import { expect } from 'chai';
import { type AgentBot, letIn, settleAgent, shareAgentBot } from '../harness.js';

describe('relay: settings of what an agent is told, and shown doing', () => {
  let bot: AgentBot;
  const open = shareAgentBot({ script: (turn) => turn.say('Done.') });
  beforeEach(async () => {
    bot = await open();
  });
  afterEach(() => bot[Symbol.asyncDispose]());
  const config = (setting: string) => bot.admin(`!relay config ${setting}`);
  const mention = async (text: string, replyTo?: Parameters<AgentBot['says']>[3]) => {
    await bot.says(bot.alice, `${bot.bot} ${text}`, bot.general, replyTo);
    return bot.prompts.at(-1) ?? '';
  };

  it('reply_thread_depth: how much of a chain of replies', async () => {
    await letIn(bot);
    await config('rate_limit_seconds 0');
    const first = bot.bob.say(bot.general, 'the first');
    const second = bot.bob.say(bot.general, 'the second', { replyTo: first, ping: false });
    expect(await mention('one', second))
      .to.include('the first')
      .and.include('the second');
    await config('reply_thread_depth 1');
    expect(await mention('two', second)).to.not.include('the first');
    await config('reply_thread_depth 0');
    expect(await mention('three', second)).to.not.include('Reply Thread');
  });

  it('mcp_guidance_enabled: whether its tools are named', async () => {
    await settleAgent(bot);
    await config('rate_limit_seconds 0');
    expect(await mention('one')).to.include('discord_send(');
    await config('mcp_guidance_enabled false');
    expect(await mention('two')).to.not.include('discord_send');
  });

  it('enable_typing_indicator: whether typing is shown', async () => {
    await letIn(bot);
    await config('rate_limit_seconds 0');
    let typed = 0;
    const stop = bot.discord.observe((event) => {
      if (event.type === 'typing' && event.user.id === bot.bot.id) typed += 1;
    });
    await mention('one');
    expect(typed).to.equal(1);
    await config('enable_typing_indicator false');
    await mention('two');
    expect(typed).to.equal(1);
    stop();
  });

  it('answerToName: whether the name of an agent is enough', async () => {
    await letIn(bot);
    await bot.says(bot.alice, 'aurora, are you there?');
    expect(bot.prompts).to.have.length(0);
    await config('answerToName true');
    await bot.says(bot.alice, 'aurora, and now?');
    expect(bot.prompts.at(-1)).to.include('aurora, and now?');
  });

  it('enable_dm_responses: whether members get answers to direct messages', async () => {
    await letIn(bot);
    await bot.admin(`!relay dm agent ${bot.letta.addAgent({ name: 'confidant' }).id}`);
    const dm = bot.alice.openDm(bot.application);
    for (const said of ['!relay dm on', '!ai use relay', 'one']) await bot.says(bot.alice, said, dm);
    expect(bot.prompts.at(-1)).to.include('> one');
    await config('enable_dm_responses false');
    await bot.says(bot.alice, 'two', dm);
    await bot.discord.expectMessage({ channel: dm, content: /have switched off answers to direct messages/ });
    expect(bot.prompts.at(-1)).to.include('> one');
  });
});
