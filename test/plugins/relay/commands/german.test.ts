import { Languages } from '@cinnabar/sdk';
import { expect } from 'chai';
import { type AgentBot, letIn, startAgentBot } from '../harness.js';

describe('relay in German', () => {
  let bot: AgentBot;
  let undo: () => void;
  before(async () => {
    bot = await startAgentBot({ script: (turn) => turn.say('Done.') });
    undo = bot.resolve(Languages).chooseBy(() => 'de');
  });
  after(async () => {
    undo();
    await bot[Symbol.asyncDispose]();
  });

  it('lets an agent in, shows it, tells how it is doing, and refuses', async () => {
    await letIn(bot, 'Aurora');
    const shown = await bot.admin('!relay show');
    expect(shown).to.include('**Aurora** (der übliche): Agent').and.include('• Werkzeuge: ');
    expect(await bot.admin('!relay status')).to.match(
      /^Die Agenten dieses Servers sind eingeschaltet\.[\s\S]*Heute: 0[\s\S]*Nichts wartet\.$/,
    );
    expect(await bot.admin('!relay show Nova')).to.equal('Hier heißt kein Agent „Nova“. Es gibt `Aurora`.');
    expect(await bot.admin('!relay disable')).to.equal(
      'Die Agenten dieses Servers sind ausgeschaltet: Sie lesen und schreiben nichts mehr. Nichts war im Gange.',
    );
  });

  it('tells the agent in English, and why there is no answer in German', async () => {
    await bot.admin('!relay enable');
    const prompt = bot.letta.requests.length;
    bot.alice.say(bot.general, `${bot.bot} hello`);
    await bot.settled();
    const sent = JSON.stringify(bot.letta.requests.slice(prompt));
    expect(sent)
      .to.include('You received a mention or reply on Discord')
      .and.not.match(/Du hast|Nachricht/);
    await bot.admin('!relay mode off');
    const since = bot.alice.say(bot.general, `${bot.bot} hello`);
    await bot.settled();
    const { content } = await bot.discord.expectMessage({ author: bot.bot, since });
    expect(content).to.include('Aus diesem Kanal erreicht die Agenten nichts');
  });
});
