import type { LocalMessage } from '@cinnabar/local-discord';
import { expect } from 'chai';
import { type AgentBot, letIn, shareAgentBot } from '../harness.js';

describe('relay: what a message replies to', () => {
  let bot: AgentBot;
  const open = shareAgentBot({ script: (turn) => turn.say('Done.') });
  beforeEach(async () => {
    bot = await open();
    await letIn(bot);
  });
  afterEach(() => bot[Symbol.asyncDispose]());

  const chain = (texts: readonly string[]) => {
    const said: LocalMessage[] = [];
    for (const text of texts) {
      const replyTo = said.at(-1);
      said.push(bot.bob.say(bot.general, text, replyTo === undefined ? {} : { replyTo, ping: false }));
    }
    return said;
  };
  const promptFor = async (replyTo: LocalMessage | undefined) => {
    await bot.says(bot.alice, `${bot.bot} what do you say?`, bot.general, replyTo);
    return bot.prompts.at(-1) ?? '';
  };

  it('is shown with author, id and time', async () => {
    const [first] = chain(['one']);
    const prompt = await promptFor(first);
    expect(prompt).to.match(
      new RegExp(`- bob \\(User ID: ${bot.bob.id}, Message ID: ${first?.id}, [-\\d]+T[:.\\d]+Z\\): one`),
    );
  });

  it('is no dot message, `.config` or `.history`: an agent reads none of them, and none is for it', async () => {
    await bot.admin('!relay mode always');
    chain(['.between us', '.config\nname: x', '.history']);
    await bot.quiet();
    expect(bot.prompts).to.deep.equal([]);
    await bot.admin('!relay mode mention');
    const said = chain(['one', '.between us', 'three']);
    await bot.quiet();
    expect(await promptFor(said.at(-1)))
      .to.include('): one')
      .and.not.include('between us');
  });

  it('is shown as far as it can be read', async () => {
    const said = chain(['one', 'two', 'three']);
    const [, second] = said;
    if (second === undefined) throw new Error('nothing was said');
    bot.bob.delete(second);
    await bot.settled();
    expect(await promptFor(said.at(-1)))
      .to.include('): three')
      .and.not.include('): one');
  });

  it('is delivered also when Discord does not say what it is', async () => {
    const said = chain(['one', 'two']);
    await bot.settled();
    const channel = bot.client.channels.cache.get(bot.general.id);
    if (channel?.isTextBased() === true) channel.messages.cache.clear();
    bot.discord.faults.rest.fail(500, { method: 'GET', route: '/channels/:channelId/messages/:messageId', times: 10 });
    const prompt = await promptFor(said.at(-1));
    expect(prompt).to.include('what do you say?').and.include('): two').and.not.include('): one');
  });

  it('distinguishes people with the same name, and no one can imitate the bot', async () => {
    const carol = bot.discord.createUser({ name: 'dave', displayName: 'bob' });
    const impostor = bot.discord.createUser({ name: 'eve', displayName: 'Cinnabar' });
    for (const user of [carol, impostor]) bot.guild.join(user);
    const first = bot.bob.say(bot.general, 'one');
    const second = carol.say(bot.general, 'two', { replyTo: first, ping: false });
    const third = impostor.say(bot.general, 'three', { replyTo: second, ping: false });
    const prompt = await promptFor(third);
    const names = [...prompt.matchAll(/^- (.*?) \(User ID: \d+, Message ID/gm)].map(([, name]) => name);
    expect(new Set(names).size).to.equal(3);
    expect(names).to.not.include('Cinnabar');
  });

  it('is told of commands as what was said by them', async () => {
    await bot.says(bot.alice, '!ai what do you say?');
    expect(bot.prompts.at(-1)).to.include('alice: what do you say?');
    const interaction = bot.alice.slash(bot.general, 'ai', { text: 'and by slash?' });
    await bot.advance(2_000);
    await bot.quiet();
    expect(bot.prompts.at(-1)).to.include('alice: and by slash?').and.include('none (it was said by a slash command)');
    expect(interaction.deferred || interaction.acknowledged).to.equal(true);
  });
});
