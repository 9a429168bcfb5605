import { expect } from 'chai';
import { type AgentBot, answering, settleAgent, startAgentBot } from './harness.js';

describe('relay: several agents in a server', () => {
  let bot: AgentBot;
  let scout: string;
  before(async () => {
    bot = await startAgentBot({ script: answering('Here.') });
    await settleAgent(bot, 'aurora');
    scout = bot.letta.addAgent({ name: 'max' }).id;
    await bot.admin(`!relay agent ${scout} max`);
  });
  after(() => bot[Symbol.asyncDispose]());
  const lastAgent = () => (bot.letta.runs.at(-1)?.agentId === scout ? 'max' : 'aurora');
  const ask = async (text: string) => {
    await bot.says(bot.alice, `${bot.bot} ${text}`);
    await bot.advance(3_000);
    await bot.quiet();
    return lastAgent();
  };

  it('an ordinary word that is a name does not take the message; a name at the beginning or addressed does', async () => {
    expect(await ask('what is the max level?')).to.equal('aurora');
    expect(await ask('max, what is your level?')).to.equal('max');
    expect(await ask('is it true, max?')).to.equal('max');
  });

  it('an agent is told its own name and id', async () => {
    await ask('max, who are you?');
    expect(bot.prompts.at(-1)).to.include(`**You Are:** max here (agent ID: ${scout})`);
  });

  it('admins choose the default, rename an agent, move it to another channel, and send it away with its wake-ups', async () => {
    expect(await bot.admin('!relay default max')).to.include('`max` is the default agent now');
    expect(await ask('anybody?')).to.equal('max');
    expect(await bot.admin('!relay rename max nova')).to.include('is called `nova` here now');
    expect(await ask('nova, are you there?')).to.equal('max');
    expect(bot.prompts.at(-1)).to.include('**You Are:** nova here');
    const maps = bot.guild.createChannel({ name: 'maps' });
    await bot.quiet();
    expect(await bot.admin(`!relay move nova ${maps}`)).to.include('answers in');
    expect(await bot.admin('!relay show nova')).to.include(`answers in ${maps}`);
    await bot.admin('!relay wake "every 4h" nova, look around', maps);
    expect(await bot.admin('!relay wake')).to.include('nova');
    expect(await bot.admin('!relay remove nova')).to.include('its wake-ups are taken back');
    expect(await bot.admin('!relay wake')).to.include('No wake-up is planned');
  });
});

describe('relay: settings of direct messages', () => {
  it('the owner sets them, and a member their own, within those', async () => {
    await using bot = await startAgentBot({ plugins: ['admin'], script: (turn) => turn.say('My words.') });
    await bot.admin(`!relay dm agent ${bot.letta.addAgent({ name: 'confidant' }).id}`);
    const dm = bot.alice.openDm(bot.application);
    for (const said of ['!relay dm on', '!ai use relay', 'one']) await bot.says(bot.alice, said, dm);
    const words = () => dm.messages.filter(({ content }) => content === 'My words.').length;
    expect(words()).to.equal(0);
    await bot.says(bot.alice, '!relay dm config whenSilent post', dm);
    await bot.advance(3_000);
    await bot.says(bot.alice, 'two', dm);
    expect(words()).to.equal(1);
    await bot.admin('!set relay dm_agent_timeout 90');
    await bot.says(bot.alice, '!relay dm config agent_timeout 30', dm);
    expect(dm.messages.at(-1)?.content).to.include('`agent_timeout` = `30`');
    await bot.says(bot.alice, '!relay dm config agent_timeout 3000', dm);
    expect(dm.messages.at(-1)?.content).to.match(/`agent_timeout` = `90`\nThe owner of the bot sets the bounds/);
    await bot.says(bot.alice, '!relay dm config agent_timeout never', dm);
    expect(dm.messages.at(-1)?.content).to.include('"agent_timeout"').and.not.include('own_');
  });
});
