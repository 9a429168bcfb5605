import { PersonalDataStore } from '@cinnabar/sdk';
import { expect } from 'chai';
import { ChannelType } from 'discord.js';
import {
  type AgentBot,
  type AgentBotOptions,
  answering,
  letIn,
  settleAgent,
  shareAgentBot,
  startAgentBot,
} from '../harness.js';

const HOUR_MS = 60 * 60_000;

describe('relay: events that are not addressed to an agent', () => {
  let bot: AgentBot;
  const options: AgentBotOptions = { script: answering('Noted.') };
  const open = shareAgentBot(options);
  beforeEach(async () => {
    bot = await open();
  });
  afterEach(() => bot[Symbol.asyncDispose]());
  const config = (setting: string) => bot.admin(`!relay config ${setting}`);
  const last = () => bot.prompts.at(-1) ?? '';
  const later = async (ms: number) => {
    await bot.advance(ms);
    await bot.quiet();
  };

  it('is every message where the mode is always, but no command, and nothing of bots', async () => {
    await letIn(bot);
    await bot.says(bot.alice, 'Nobody asked');
    expect(bot.prompts).to.have.length(0);
    await bot.admin('!relay mode always');
    await bot.says(bot.alice, '!relay');
    expect(bot.prompts).to.have.length(0);
    await bot.says(bot.alice, 'Somebody asked');
    expect(bot.prompts).to.have.length(1);
    expect(last()).to.include('which was not said to you').and.include('alice: Somebody asked');
  });

  it('is not said to it in a thread either, where the mode is always', async () => {
    await letIn(bot);
    await bot.admin('!relay mode always');
    const thread = bot.alice.startThread(bot.general, 'aside');
    await bot.says(bot.alice, 'To ourselves', thread);
    expect(last()).to.include('which was not said to you').and.not.include('a thread that you started');
  });

  it('is nothing that the agent itself has written, however it is asked', async () => {
    await settleAgent(bot);
    await bot.admin('!relay mode always');
    const told = bot.prompts.length;
    await bot.says(bot.alice, 'Answer me');
    await later(3_000);
    expect((await bot.discord.expectMessage({ author: bot.bot, content: 'Noted.' })).author.id).to.equal(bot.bot.id);
    expect(bot.prompts).to.have.length(told + 1);
  });

  it('is nothing where the mode is off, not even a mention', async () => {
    await letIn(bot);
    await bot.admin('!relay mode off');
    await bot.says(bot.alice, `${bot.bot} hello`);
    await bot.discord.expectMessage({ author: bot.bot, content: /its mode is `off`/ });
    expect(bot.prompts).to.have.length(0);
  });

  it('is the first message in a thread that the bot has started, and that one only', async () => {
    await letIn(bot);
    const channel = bot.client.channels.cache.get(bot.general.id);
    if (channel?.type !== ChannelType.GuildText) throw new Error('there is no such channel');
    const { id } = await channel.threads.create({ name: 'ideas' });
    await bot.settled();
    const thread = bot.guild.threads.get(id);
    if (thread === undefined) throw new Error('there is no thread');
    await bot.says(bot.alice, 'The first idea', thread);
    await later(3_000);
    await bot.says(bot.bob, 'The second idea', thread);
    await later(3_000);
    expect(bot.prompts).to.have.length(1);
    expect(last()).to.include('the first message in a thread that you started').and.include('The first idea');
    const others = bot.alice.startThread(bot.general, 'aside');
    await bot.says(bot.alice, 'Not for you', others);
    expect(bot.prompts).to.have.length(1);
  });

  it('quietHours and timeZone: is less while hours are quiet', async () => {
    // The clock starts at midnight (UTC).
    bot = await startAgentBot(options);
    await letIn(bot);
    await config('quietHours 23:00-06:00');
    await bot.admin('!relay mode always');
    await bot.says(bot.alice, 'In the night');
    expect(bot.prompts).to.have.length(0);
    await bot.says(bot.alice, `${bot.bot} in the night`);
    expect(bot.prompts).to.have.length(1);
    await config('timeZone Asia/Tokyo');
    await later(3_000);
    await bot.says(bot.alice, 'In the morning');
    expect(last()).to.include('In the morning');
  });

  it('digestMinutes: is a digest of what went on, when something did', async () => {
    await letIn(bot);
    await bot.admin('!relay mode digest');
    await later(3 * HOUR_MS);
    expect(bot.prompts).to.have.length(0);
    await bot.says(bot.alice, 'Tea?');
    await bot.says(bot.bob, 'Yes please');
    await later(59 * 60_000);
    expect(bot.prompts).to.have.length(0);
    await later(2 * 60_000);
    expect(last()).to.include('This is a digest').and.include('2 messages by 2 members').and.include('Yes please');
    await later(3 * HOUR_MS);
    expect(bot.prompts).to.have.length(1);
    await config('digestMinutes 5');
    await bot.says(bot.alice, 'More?');
    await later(6 * 60_000);
    expect(last()).to.include('More?').and.not.include('Tea?');
  });

  it('digestMessages: is a digest at once when much was said', async () => {
    await letIn(bot);
    await bot.admin('!relay mode digest');
    await config('digestMessages 2');
    await bot.says(bot.alice, 'One');
    expect(bot.prompts).to.have.length(0);
    await bot.says(bot.alice, 'Two');
    expect(last()).to.include('2 messages by 1 member');
  });

  it('wakesPerDay: are the wake-ups that were planned, as many as there may be', async () => {
    // The clock starts at midnight (UTC).
    bot = await startAgentBot(options);
    await letIn(bot);
    expect(await bot.admin('!relay wake "every day 9:00" Say good morning')).to.match(/^Wake-up 1: `aurora` is woken/);
    await later(8 * HOUR_MS);
    expect(bot.prompts).to.have.length(0);
    await later(1 * HOUR_MS + 60_000);
    expect(last()).to.include('planned for you').and.include('> Say good morning');
    await later(24 * HOUR_MS);
    expect(bot.prompts).to.have.length(2);
    await config('wakesPerDay 0');
    await later(24 * HOUR_MS);
    expect(bot.prompts).to.have.length(2);
    expect(await bot.admin('!relay wake remove 1')).to.include('taken back');
    expect(await bot.admin('!relay wake')).to.include('No wake-up is planned');
  });

  it('reactionEvents and reactionSeconds: are reactions to its messages, gathered', async () => {
    await settleAgent(bot);
    await bot.says(bot.alice, `${bot.bot} note this`);
    const answer = await bot.discord.expectMessage({ author: bot.bot, content: 'Noted.' });
    const told = bot.prompts.length;
    bot.alice.react(answer, '🎉');
    bot.bob.react(answer, '👀');
    await bot.settled();
    await later(10_000);
    expect(bot.prompts).to.have.length(told);
    await later(11_000);
    expect(bot.prompts).to.have.length(told + 1);
    expect(last())
      .to.include('alice (User ID:')
      .and.include('reacted with 🎉')
      .and.include('reacted with 👀')
      .and.include('Noted.');

    await config('reactionSeconds 0');
    bot.alice.react(answer, '🔥');
    await bot.settled();
    await later(3_000);
    expect(last()).to.include('🔥');
    await bot.admin('!relay mode off');
    bot.bob.react(answer, '🌊');
    await bot.settled();
    await later(3_000);
    expect(last()).to.not.include('🌊');
    await bot.admin('!relay mode mention');
    await config('reactionEvents false');
    const before = bot.prompts.length;
    bot.bob.react(answer, '🧊');
    await later(30_000);
    expect(bot.prompts).to.have.length(before);
  });

  it('contains no reaction of a member who deleted their data', async () => {
    await settleAgent(bot);
    await bot.says(bot.alice, `${bot.bot} note this`);
    const answer = await bot.discord.expectMessage({ author: bot.bot, content: 'Noted.' });
    await bot.admin('!relay pause');
    bot.alice.react(answer, '🎉');
    await bot.settled();
    bot.bob.react(answer, '👀');
    await bot.settled();
    await later(30_000);
    const store = bot.resolve(PersonalDataStore);
    expect(JSON.stringify(await store.export(bot.bob.id))).to.include('👀');
    await store.forget(bot.bob.id);
    expect(JSON.stringify(await store.export(bot.bob.id))).to.not.include('👀');
    await bot.admin('!relay resume');
    await bot.quiet();
    expect(last()).to.include('reacted with 🎉').and.not.include('👀').and.not.include(bot.bob.id);
  });

  it('is not a reaction to what the bot says otherwise', async () => {
    await letIn(bot);
    await bot.admin('!relay status');
    const status = bot.general.messages.at(-1);
    if (status === undefined) throw new Error('the bot has said nothing');
    bot.alice.react(status, '🎉');
    await later(30_000);
    expect(bot.prompts).to.have.length(0);
  });
});

describe('relay: messages that change while they wait', () => {
  let bot: AgentBot;
  const open = shareAgentBot({ script: (turn) => turn.say('Done.') });
  beforeEach(async () => {
    bot = await open();
    await letIn(bot);
    await bot.admin('!relay pause');
  });
  afterEach(() => bot[Symbol.asyncDispose]());

  it('are told as they were edited', async () => {
    const said = await bot.says(bot.alice, `${bot.bot} the first words`);
    bot.alice.edit(said, `${bot.bot} the last words`);
    await bot.admin('!relay resume');
    await bot.quiet();
    expect(bot.prompts.at(-1)).to.include('the last words').and.not.include('the first words');
  });

  it('are not told once they are deleted', async () => {
    const said = await bot.says(bot.alice, `${bot.bot} never mind`);
    await bot.says(bot.bob, `${bot.bot} mind`);
    bot.alice.delete(said);
    await bot.admin('!relay resume');
    await bot.quiet();
    expect(bot.prompts.join()).to.include('bob: ').and.not.include('never mind');
  });

  it('go to the agent that is there by then', async () => {
    await bot.says(bot.alice, `${bot.bot} hello`);
    const { id } = bot.letta.addAgent({ name: 'successor' });
    await bot.admin(`!relay agent ${id} aurora`);
    await bot.admin('!relay resume');
    await bot.quiet();
    expect(bot.letta.runs.map(({ agentId }) => agentId)).to.deep.equal([id]);
  });

  it('come together when there are several', async () => {
    await bot.says(bot.alice, `${bot.bot} first`);
    await bot.says(bot.bob, `${bot.bot} second`);
    await bot.admin('!relay resume');
    await bot.quiet();
    expect(bot.prompts).to.have.length(1);
    expect(bot.prompts[0]).to.include('You received 2 messages, mentions or replies');
  });

  it('are dropped with `relay queue clear`, and with `relay disable`', async () => {
    await bot.says(bot.alice, `${bot.bot} first`);
    expect(await bot.admin('!relay queue')).to.include('1 waiting');
    expect(await bot.admin('!relay queue clear')).to.include('1 message that was waiting is dropped');
    await bot.says(bot.alice, `${bot.bot} second`);
    await bot.admin('!relay disable');
    const said = bot.general.messages.map(({ content }) => content);
    expect(said).to.include('There will be no answer: the agents of this server are switched off.');
    expect(said.at(-1)).to.include('1 message that was under way is cut off');
    await bot.admin('!relay resume');
    await bot.says(bot.alice, `${bot.bot} third`);
    await bot.discord.expectMessage({ author: bot.bot, content: /switched off. An admin can switch them on/ });
    expect(bot.prompts).to.have.length(0);
  });
});
