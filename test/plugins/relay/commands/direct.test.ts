import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Tools } from '@cinnabar/sdk';
import { expect } from 'chai';
import { type AgentBot, letIn, startAgentBot } from '../harness.js';

describe('relay: what people can rely on', () => {
  let bot: AgentBot;
  beforeEach(async () => {
    bot = await startAgentBot({ script: (turn) => turn.say('Done.') });
    await letIn(bot);
  });
  afterEach(() => bot[Symbol.asyncDispose]());

  it('no direct message goes to an agent without a yes', async () => {
    await bot.admin(`!relay dm agent ${bot.letta.addAgent({ name: 'confidant' }).id}`);
    const dm = bot.alice.openDm(bot.application);
    await bot.says(bot.alice, '!ai use relay', dm);
    await bot.says(bot.alice, 'Hello', dm);
    const question = await bot.discord.expectMessage({ channel: dm, content: /An agent can answer you here/ });
    expect(question.content).to.include('It answers other people, too, with the same memory');
    await bot.says(bot.alice, 'Hello?', dm);
    await bot.discord.expectMessage({ channel: dm, content: /You have not said yet/ });
    bot.alice.click(question, 'No');
    await bot.quiet();
    await bot.says(bot.alice, 'Hello!', dm);
    await bot.discord.expectMessage({
      channel: dm,
      content: 'No agent reads your direct messages. `relay dm on` changes that.',
    });
    expect(bot.prompts).to.have.length(0);
  });

  it('a person with a separate agent is told that it is only theirs', async () => {
    await bot.admin(`!relay dm agent ${bot.letta.addAgent({ name: 'own' }).id} ${bot.alice}`);
    const dm = bot.alice.openDm(bot.application);
    await bot.says(bot.alice, '!ai use relay', dm);
    await bot.says(bot.alice, 'Hello', dm);
    await bot.discord.expectMessage({ channel: dm, content: /It answers nobody else/ });
  });

  it('a message that waits for consent is not delivered when its author refuses meanwhile', async () => {
    await bot.admin(`!relay dm agent ${bot.letta.addAgent({ name: 'confidant' }).id}`);
    const dm = bot.alice.openDm(bot.application);
    for (const said of ['!relay dm on', '!ai use relay', 'one', 'two', '!relay dm off'])
      await bot.says(bot.alice, said, dm);
    await bot.advance(5_000);
    await bot.quiet();
    expect(bot.prompts).to.have.length(1);
  });

  it('the slash commands are the same', async () => {
    const status = bot.you.slash(bot.general, 'relay status');
    await status.answered();
    expect(status.response?.content).to.include('They answer in this channel.');
    const mode = bot.you.slash(bot.general, 'relay mode', { mode: 'digest' });
    await mode.answered();
    expect(mode.response?.content).to.include('is in the mode `digest` now');
    const member = bot.alice.slash(bot.general, 'relay pause');
    await member.answered();
    expect(member.response?.content).to.match(/may not do that/);
  });

  it('only the relay asks for an approval in its name', async () => {
    const tools = bot.resolve(Tools);
    const actor = { userId: bot.you.id, guildId: bot.guild.id, channelId: bot.general.id };
    expect((await tools.offered(actor)).map(({ name }) => name)).to.not.include('relay_approve');
    const forged = {
      name: 'relay_approve',
      arguments: { agent: 'a', tool: 't', arguments: {} },
      actor,
      origin: 'chat',
    };
    expect((await tools.invoke(forged)).status).to.equal('failed');
  });
});

describe('relay: when the bot is started again', () => {
  it('waiting messages are delivered to the agents that were accepted', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'cinnabar-relay-'));
    await using first = await startAgentBot({ script: (turn) => turn.say('Done.'), dataDir: folder });
    await letIn(first);
    await first.admin('!relay pause');
    await first.says(first.alice, `${first.bot} are you there?`);
    await first.stop();
    await using second = await startAgentBot({ world: first, letta: first.letta, dataDir: folder });
    await second.admin('!relay resume');
    await second.quiet();
    expect(second.prompts.at(-1)).to.include('are you there?');
    await rm(folder, { recursive: true, force: true });
  });
});
