import { expect } from 'chai';
import { type AgentBot, letIn, shareAgentBot } from '../harness.js';

describe('relay: settings of the queue and of time limits', () => {
  let bot: AgentBot;
  let hanging = false;
  const open = shareAgentBot({ script: (turn) => (hanging ? turn.hang() : turn.say('Done.')) });
  beforeEach(async () => {
    hanging = false;
    bot = await open();
    await letIn(bot);
  });
  afterEach(() => bot[Symbol.asyncDispose]());
  const config = (setting: string) => bot.admin(`!relay config ${setting}`);
  const mention = (text: string) => bot.says(bot.alice, `${bot.bot} ${text}`);
  /** The members' messages in the agents' prompts. */
  const told = () =>
    bot.prompts.flatMap((prompt) => [...prompt.matchAll(/(?:alice|\)): <@\d+> (.*)/g)].map(([, said]) => said));

  it('rate_limit_seconds: the least time between two messages of a channel', async () => {
    await mention('one');
    await mention('two');
    expect(told()).to.deep.equal(['one']);
    await bot.advance(2_000);
    await bot.quiet();
    expect(told()).to.deep.equal(['one', 'two']);

    await config('rate_limit_seconds 60');
    await mention('three');
    await bot.advance(30_000);
    await bot.quiet();
    expect(told()).to.have.length(2);
    await config('rate_limit_seconds 0');
    await bot.quiet();
    expect(told()).to.deep.equal(['one', 'two', 'three']);
    await mention('four');
    expect(told()).to.deep.equal(['one', 'two', 'three', 'four']);
  });

  it('max_queue_size and whenFull: how many may wait, and which are given up', async () => {
    await config('max_queue_size 2');
    await bot.admin('!relay pause');
    await mention('one');
    await mention('two');
    await mention('three');
    await bot.discord.expectMessage({ author: bot.bot, content: /Too many messages are waiting/ });
    await bot.discord.expectMessage({ author: bot.bot, content: /A message was given up because too many wait/ });
    await config('whenFull drop-oldest');
    await mention('four');
    await bot.admin('!relay resume');
    await bot.quiet();
    expect(told()).to.deep.equal(['two', 'four']);
  });

  it('agent_timeout: how long the agent may work', async () => {
    await config('agent_timeout 5');
    hanging = true;
    bot.alice.say(bot.general, `${bot.bot} one`);
    await bot.letta.hanging();
    await bot.advance(4_000);
    expect(bot.letta.runs.at(-1)?.status).to.equal('running');
    await bot.advance(1_000);
    await bot.discord.expectMessage({ author: bot.bot, content: /took longer than 5 s/ });
    expect(bot.letta.runs.at(-1)?.status).to.equal('cancelled');
    bot.letta.release();
  });

  it('dayTurns and dayTokens: what the agents may use in a day', async () => {
    await config('rate_limit_seconds 0');
    await config('dayTurns 1');
    await mention('one');
    await mention('two');
    expect(told()).to.deep.equal(['one']);
    await bot.discord.expectMessage({ author: bot.bot, content: /reached their daily limit \(1 messages\)/ });
    await config('dayTurns default');
    await config('dayTokens 1');
    await mention('three');
    await bot.discord.expectMessage({ author: bot.bot, content: /reached their daily limit \(1 tokens\)/ });
    await bot.advance(24 * 60 * 60_000);
    await mention('four');
    expect(told()).to.deep.equal(['one', 'four']);
  });

  it('whenSilent: the text of an agent that has posted nothing', async () => {
    const asked = await mention('one');
    expect(bot.general.messages.at(-1)).to.equal(asked);
    await config('whenSilent post');
    const again = await mention('two');
    await bot.advance(2_000);
    await bot.quiet();
    expect((await bot.discord.expectMessage({ author: bot.bot, content: 'Done.' })).replyTo).to.equal(again);
  });

  it('hold in their own server only', async () => {
    await config('rate_limit_seconds 60');
    const other = bot.discord.createGuild({ name: 'Elsewhere', owner: bot.you });
    other.invite(bot.application);
    other.join(bot.alice);
    const lobby = other.createChannel({ name: 'lobby' });
    await bot.settled();
    expect(await bot.admin('!relay config rate_limit_seconds', lobby)).to.include('= `2`');
    const { id } = bot.letta.addAgent({ name: 'nova' });
    await bot.admin(`!relay agent ${id} nova`, lobby);
    await bot.admin('!relay enable', lobby);
    await bot.admin('!ai use relay', lobby);
    for (const text of ['one', 'two']) {
      await bot.says(bot.alice, `${bot.bot} ${text}`, lobby);
      await mention(text);
    }
    await bot.advance(2_000);
    await bot.quiet();
    const of = (channel: string) => bot.prompts.filter((prompt) => prompt.includes(`#${channel}`)).length;
    expect([of('lobby'), of('general')]).to.deep.equal([2, 1]);
  });
});
