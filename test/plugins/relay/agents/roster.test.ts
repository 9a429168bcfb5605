import type { LocalChannel } from '@cinnabar/local-discord';
import { expect } from 'chai';
import { type AgentBot, letIn, startAgentBot } from '../harness.js';

describe('relay: which agent a message is for', () => {
  let bot: AgentBot;
  let maps: LocalChannel;
  const names = new Map<string, string>();
  before(async () => {
    bot = await startAgentBot({ script: (turn) => turn.say('Noted.') });
    maps = bot.guild.createChannel({ name: 'maps' });
    await bot.settled();
    names.set(await letIn(bot, 'Aurora'), 'aurora');
    for (const name of ['Aurora-Two', 'Scout']) {
      const { id } = bot.letta.addAgent({ name });
      names.set(id, name.toLowerCase());
      await bot.admin(`!relay agent ${id} ${name} ${name === 'Scout' ? maps : ''}`);
    }
    await bot.admin(`!relay grant channel ${bot.general} Scout`);
    await bot.admin(`!relay grant channel ${maps} Aurora`);
    for (const setting of ['rate_limit_seconds 0', 'dayTurns 1000']) await bot.admin(`!relay config ${setting}`);
    await bot.admin('!relay default Aurora');
  });
  after(() => bot[Symbol.asyncDispose]());

  const asked = async (text: string, where = bot.general): Promise<string | undefined> => {
    const before = bot.letta.runs.length;
    await bot.says(bot.alice, `${bot.bot} ${text}`, where);
    const runs = bot.letta.runs.slice(before);
    return runs.map(({ agentId }) => names.get(agentId)).join() || undefined;
  };

  it('is the default where nothing says otherwise', async () => {
    expect(await asked('Hello')).to.equal('aurora');
  });

  it('is the one of the channel, also in its threads', async () => {
    expect(await asked('Hello', maps)).to.equal('scout');
    const thread = bot.alice.startThread(maps, 'aside');
    await bot.settled();
    expect(await asked('Hello', thread)).to.equal('scout');
  });

  it('is the one that is addressed by name, at the beginning or set off at the end; a name that merely occurs addresses no one', async () => {
    expect(await asked('scout, what is there?')).to.equal('scout');
    expect(await asked('AURORA: ask them', maps)).to.equal('aurora');
    expect(await asked('Is it so, aurora?', maps)).to.equal('aurora');
    expect(await asked('Ask aurora', maps)).to.equal('scout');
    expect(await asked('The scouts and auroras are out')).to.equal('aurora');
    expect(await asked('Scouting, she said')).to.equal('aurora');
  });

  it('is the longer one of two names, and the first of two agents', async () => {
    expect(await asked('aurora-two?')).to.equal('aurora-two');
    expect(await asked('Scout or Aurora?')).to.equal('scout');
  });

  it('is no one who is not there, whatever their name', async () => {
    expect(await bot.admin('!relay default constructor')).to.include('no agent');
    expect(await asked('constructor, hello')).to.equal('aurora');
    const other = bot.discord.createGuild({ name: 'Elsewhere', owner: bot.you });
    other.invite(bot.application);
    const lobby = other.createChannel({ name: 'lobby' });
    await bot.settled();
    for (const text of ['!relay enable', '!ai use relay']) await bot.admin(text, lobby);
    bot.you.say(lobby, `${bot.bot} Hello`);
    await bot.quiet();
    expect(lobby.messages.at(-1)?.content).to.include('No agent answers here yet');
  });

  it('is decided by the mode of the channel, and by that of the channel it belongs to where it has none itself', async () => {
    const thread = bot.alice.startThread(maps, 'by the way');
    await bot.settled();
    const heard = async (text: string, where: LocalChannel) => {
      const before = bot.letta.runs.length;
      await bot.says(bot.alice, text, where);
      return bot.letta.runs.length - before;
    };
    expect(await heard('Nobody asked', thread)).to.equal(0);
    await bot.admin('!relay mode always', maps);
    expect(await heard('To ourselves', thread)).to.equal(1);
    await bot.admin('!relay mode off', thread);
    expect(await heard('To ourselves', thread)).to.equal(0);
    expect(await heard('To ourselves', maps)).to.equal(1);
  });
});
