import { expect } from 'chai';
import {
  type AgentBot,
  type AgentBotOptions,
  answering,
  settleAgent,
  shareAgentBot,
  startAgentBot,
} from '../harness.js';

describe('relay: an agent that fails', () => {
  let bot: AgentBot;
  let ending: 'fails' | 'hangs' | 'loses its server' | 'ends';
  const post = answering('Here you are.');
  const options: AgentBotOptions = {
    async script(turn) {
      if (turn.prompt.includes('into nowhere'))
        return turn.callTool('discord_send', { channelId: '1', message: 'Hm.' });
      if (turn.prompt.includes('in silence')) return turn.say('My last words.');
      if (!turn.prompt.includes('without posting')) await post(turn);
      if (ending === 'fails') turn.fail('llm_authentication', 'No such key.');
      if (ending === 'hangs') await turn.hang();
      if (ending !== 'loses its server') return;
      bot.letta.faults.fail(503, { times: 100 });
      turn.cut();
    },
  };
  const open = shareAgentBot(options);
  beforeEach(async () => {
    ending = 'ends';
    bot = await open();
    await settleAgent(bot);
  });
  afterEach(() => bot[Symbol.asyncDispose]());
  const said = () =>
    bot.general.messages.filter(({ author }) => author.id === bot.bot.id).map(({ content }) => content);
  const later = async (ms: number) => {
    await bot.advance(ms);
    await bot.quiet();
  };

  it('is not said to have failed when it has posted; admins can see it', async () => {
    ending = 'fails';
    const before = said().length;
    await bot.says(bot.alice, `${bot.bot} hello`);
    expect(said().slice(before)).to.deep.equal(['Here you are.']);
    expect(await bot.admin('!relay errors')).to.include('stopped in the middle of its work');
  });

  it('is said to have failed when it has not', async () => {
    ending = 'fails';
    await bot.says(bot.alice, `${bot.bot} hello, without posting`);
    expect(said().at(-1)).to.match(/The agent/);
  });

  it('is said to have failed when it gave up because its message could not be posted', async () => {
    await bot.says(bot.alice, `${bot.bot} hello, into nowhere`);
    expect(said().at(-1)).to.include('its message could not be posted');
  });

  it('is said to have failed once to each member, of all that it was told together, as a reply to their newest', async () => {
    ending = 'hangs';
    bot.alice.say(bot.general, `${bot.bot} hello, without posting`);
    await bot.letta.hanging();
    bot.alice.say(bot.general, `${bot.bot} one, without posting`);
    const second = bot.bob.say(bot.general, `${bot.bot} two, without posting`);
    const third = bot.alice.say(bot.general, `${bot.bot} three, without posting`);
    ending = 'fails';
    bot.letta.release();
    await bot.quiet();
    await later(3_000);
    const told = bot.general.messages.filter(({ content }) => content.startsWith("The agent's model"));
    expect(bot.prompts.at(-1)).to.match(/one,[\s\S]*two,[\s\S]*three,/);
    expect(told.map(({ replyTo }) => replyTo)).to.have.members([second, third]);
  });

  it('is not said to have failed when it had posted before its server was lost for good', async () => {
    bot = await startAgentBot(options);
    await settleAgent(bot);
    ending = 'loses its server';
    const before = said().length;
    await bot.says(bot.alice, `${bot.bot} hello`);
    for (let round = 0; round < 40; round += 1) await later(2_000);
    expect(said().slice(before)).to.deep.equal(['Here you are.']);
    bot.letta.faults.clear();
    expect(await bot.admin('!relay errors')).to.not.include('Nothing went wrong');
  });

  it('has used a turn of the day all the same', async () => {
    ending = 'hangs';
    await bot.admin('!relay config dayTurns 1');
    await bot.admin('!relay config agent_timeout 5');
    bot.alice.say(bot.general, `${bot.bot} hello, without posting`);
    await bot.letta.hanging();
    await bot.advance(6_000);
    await bot.discord.expectMessage({ author: bot.bot, content: /took longer than 5 s/ });
    bot.letta.release();
    await later(6_000);
    await bot.says(bot.alice, `${bot.bot} again`);
    expect(said().at(-1)).to.include('have reached their daily limit');
  });

  it('is not what it is called when only its words could not be posted', async () => {
    await bot.admin('!relay config whenSilent post');
    const [, before] = /Today: (\d+) prompts/.exec(await bot.admin('!relay status')) ?? [];
    bot.discord.faults.rest.fail(403, { method: 'POST', route: '/channels/:channelId/messages' });
    await bot.says(bot.alice, `${bot.bot} in silence`);
    expect(said().at(-1)).to.equal('The agent has answered, but I could not post it.');
    expect(await bot.admin('!relay status')).to.include(`Today: ${Number(before) + 1} prompts`);
  });
});
