import { expect } from 'chai';
import { copyData } from '../../../support/data.js';
import { makeFolder } from '../../../support/folder.js';
import { letIn, startAgentBot } from '../harness.js';

describe('relay: what the bot says for an agent', () => {
  it('is posted once, also by a process that starts long after the one that posted it', async () => {
    using left = makeFolder();
    await using bot = await startAgentBot({ script: (turn) => turn.say('Here I am.'), plugins: ['accounts'] });
    await letIn(bot);
    await bot.admin('!relay config whenSilent post');
    const stop = bot.discord.observe((event) => {
      if (event.type !== 'messageCreate' || event.message.content !== 'Here I am.') return;
      copyData(bot.dataDir, left.path);
      stop();
    });
    const asked = await bot.says(bot.alice, `${bot.bot} Hello?`);
    await bot.stop();
    await bot.advance(10 * 60_000);
    await using next = await startAgentBot({
      letta: bot.letta,
      world: bot,
      dataDir: left.path,
      plugins: ['accounts'],
    });
    await next.quiet();
    const [said, ...again] = next.general.messages.filter(({ content }) => content === 'Here I am.');
    if (said === undefined) throw new Error('the answer was not posted');
    expect(again).to.deep.equal([]);
    expect(said.replyTo).to.equal(asked);
    // The receipt was written by the second process, with the id of the message that the first one had posted.
    await next.says(next.alice, '!why', next.general, said);
    await next.discord.expectMessage({ author: next.bot, content: /\*\*Agent\*\*: aurora/ });
  });
});
