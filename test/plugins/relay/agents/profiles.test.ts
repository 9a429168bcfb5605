import type { LocalMessage } from '@cinnabar/local-discord';
import { expect } from 'chai';
import { type AgentBot, namedIn, settleAgent, startAgentBot } from '../harness.js';

const SCOUT = 'https://example.org/scout.png';

describe('relay: which of several agents speaks', () => {
  let bot: AgentBot;
  let scout: string;
  /** The latest message of the agent `scout`. */
  let byScout: LocalMessage | undefined;
  before(async () => {
    bot = await startAgentBot({
      plugins: ['admin'],
      async script(turn) {
        const { channelId, messageId: replyToMessageId } = namedIn(turn.prompt);
        const post = (message: string) =>
          turn.callTool('discord_send', {
            channelId,
            message,
            ...(replyToMessageId === undefined ? {} : { replyToMessageId }),
          });
        const messageId = byScout?.id;
        if (turn.prompt.includes('in your own words')) await turn.say('My own words.');
        else if (turn.prompt.includes('put it right'))
          await turn.callTool('discord_edit_message', { channelId, messageId, content: 'Right.' });
        else if (turn.prompt.includes('take it back'))
          await turn.callTool('discord_delete_message', { channelId, messageId });
        else await post('Here.');
      },
    });
    await settleAgent(bot, 'aurora');
  });
  after(() => bot[Symbol.asyncDispose]());

  const said = () => bot.general.messages.slice(start).map(({ author, content }) => `${author.name}: ${content}`);
  const ask = async (text: string, replyTo?: LocalMessage) => {
    await bot.says(bot.alice, text, bot.general, replyTo);
    await bot.advance(3_000);
    await bot.quiet();
  };
  let start = 0;
  beforeEach(() => {
    start = bot.general.messages.length;
  });
  const name = () => bot.bot.name;
  const lastAuthor = () => bot.general.messages.at(-1)?.author;

  it('an agent that is alone in a server posts as the bot', async () => {
    await ask(`${bot.bot} are you there?`);
    expect(lastAuthor()?.name).to.equal(name());
  });

  it('members see which of several agents has written: its name and its picture', async () => {
    scout = bot.letta.addAgent({ name: 'scout' }).id;
    await bot.admin(`!relay agent ${scout} scout`);
    await bot.admin('!relay setup scout');
    expect(await bot.admin(`!relay avatar scout ${SCOUT}`)).to.include('a picture of its own');
    start = bot.general.messages.length;
    await ask(`${bot.bot} are you there?`);
    await ask(`${bot.bot} scout, and you?`);
    expect(said().filter((line) => line.includes('Here.'))).to.deep.equal([
      `aurora: ${bot.alice} Here.`,
      `scout: ${bot.alice} Here.`,
    ]);
    expect(lastAuthor()?.avatar).to.equal(SCOUT);
  });

  it('a reply to what an agent wrote reaches that agent, which is shown who of them has written what', async () => {
    await ask(`${bot.bot} scout, where are you?`);
    byScout = bot.general.messages.at(-1);
    await ask('what do you mean?', byScout);
    expect(bot.letta.runs.at(-1)?.agentId).to.equal(scout);
    expect(lastAuthor()?.name).to.equal('scout');
    expect(bot.prompts.at(-1)).to.match(/- scout \[bot\] \(User ID: .*Here\./u);
  });

  it('an agent puts right and takes back what it has written under its name', async () => {
    for (const tool of ['discord_edit_message', 'discord_delete_message']) {
      await bot.admin(`!tool policy ${tool} allow`);
      await bot.admin(`!relay grant tool ${tool} allow scout`);
    }
    await bot.admin('!relay setup scout');
    await ask(`${bot.bot} scout, where are you?`);
    byScout = bot.general.messages.at(-1);
    await ask(`${bot.bot} scout, put it right`);
    expect(byScout?.content).to.equal('Right.');
    await ask(`${bot.bot} scout, take it back`);
    expect(bot.general.messages).to.not.include(byScout);
  });

  it('words that are posted for an agent bear its name, too', async () => {
    await bot.admin('!relay config whenSilent post');
    await ask(`${bot.bot} scout, in your own words`);
    expect(said().at(-1)).to.equal(`scout: ${bot.alice} My own words.`);
  });

  it('all agents post as the bot again where the admins want that', async () => {
    await bot.admin('!relay config ownName off');
    await ask(`${bot.bot} scout, are you there?`);
    expect(said().at(-1)).to.equal(`${name()}: Here.`);
  });

  it('all agents post as the bot where it may not manage webhooks', async () => {
    await bot.admin('!relay config ownName on');
    await ask(`${bot.bot} scout, are you there?`);
    expect(lastAuthor()?.name).to.equal('scout');
    bot.guild.overwrite(bot.general, { for: bot.application.user, deny: ['ManageWebhooks'] });
    await bot.quiet();
    await ask(`${bot.bot} scout, and now?`);
    expect(said().at(-1)).to.equal(`${name()}: Here.`);
  });
});
