import { expect } from 'chai';
import { type AgentBot, answering, settleAgent, startAgentBot } from '../harness.js';

describe('relay: nothing is silent', () => {
  let bot: AgentBot;
  let id: string;
  beforeEach(async () => {
    bot = await startAgentBot({ script: answering('Here you are.'), plugins: ['admin'] });
    id = await settleAgent(bot);
  });
  afterEach(() => bot[Symbol.asyncDispose]());
  const saidSince = (count: number) => bot.general.messages.slice(count).map(({ content }) => content);

  it('sixteen members who mention the bot at once are all heard', async () => {
    const members = Array.from({ length: 16 }, (_, n) => bot.discord.createUser({ name: `member${n}` }));
    for (const member of members) bot.guild.join(member);
    await bot.settled();
    const earlier = bot.general.messages.length;
    for (const member of members) member.say(bot.general, `${bot.bot} what about ${member.username}?`);
    await bot.quiet();
    for (let round = 0; round < 4; round += 1) {
      await bot.advance(3_000);
      await bot.quiet();
    }
    const prompts = bot.prompts.join('\n');
    expect(members.filter(({ username }) => !prompts.includes(`what about ${username}?`))).to.deep.equal([]);
    expect(saidSince(earlier).join('\n')).to.not.include('busy');
  });

  it('members get a notice at once while the agent does not answer, one in ten minutes each', async () => {
    bot.letta.faults.fail(503, { times: 1_000 });
    bot.alice.say(bot.general, `${bot.bot} first`);
    bot.bob.say(bot.general, `${bot.bot} second`);
    for (let round = 0; round < 12; round += 1) {
      await bot.quiet();
      await bot.advance(2_000);
    }
    const earlier = bot.general.messages.length;
    await bot.says(bot.you, `${bot.bot} third`);
    await bot.says(bot.you, `${bot.bot} fourth`);
    expect(saidSince(earlier).filter((text) => text.includes('does not answer at the moment'))).to.have.length(1);
    const repliedTo = new Set(bot.general.messages.flatMap(({ replyTo }) => replyTo?.author.id ?? []));
    expect([...repliedTo]).to.include.members([bot.alice.id, bot.bob.id]);
  });

  const cases = {
    'the policy of the server denies discord_send': async () => {
      await bot.admin('!tool policy discord_send deny');
    },
    'the plugin that it posts with is switched off': async () => {
      await bot.admin('!plugin disable discord-tools');
    },
    'the member who let it in has left': async () => {
      const role = bot.guild.createRole({ name: 'Admin', permissions: ['ManageGuild'] });
      bot.guild.giveRole(bot.bob, role);
      await bot.settled();
      await bot.says(bot.bob, `!relay agent ${id} aurora`);
      bot.guild.remove(bot.bob);
      await bot.settled();
    },
  };
  for (const [name, happen] of Object.entries(cases)) {
    it(`the requester, the errors and the status report it when ${name}`, async () => {
      await happen();
      const earlier = bot.general.messages.length;
      const { length: prompts } = bot.prompts;
      await bot.says(bot.alice, `${bot.bot} hello?`);
      expect(saidSince(earlier).join('\n')).to.match(
        /cannot post here at the moment, because (the policy|the member|`discord-tools`)/,
      );
      expect(bot.prompts).to.have.length(prompts);
      expect(await bot.admin('!relay errors')).to.include('cannot post here');
      expect(await bot.admin('!relay status')).to.match(
        /It cannot post: (the policy|the member who let it in has left|`discord-tools`, .* is switched off)/,
      );
    });
  }

  it('the requester and the status report that discord_send was removed from the agent, which still receives messages', async () => {
    await bot.admin('!relay ungrant tool discord_send');
    expect(await bot.admin('!relay status')).to.include(
      '`aurora` (the default) answers\n  ⚠️ It cannot post: it was not granted `discord_send`. `relay grant tool discord_send allow aurora` grants it.',
    );
    const earlier = bot.general.messages.length;
    const { length: prompts } = bot.prompts;
    await bot.says(bot.alice, `${bot.bot} hello?`);
    expect(bot.prompts).to.have.length(prompts + 1);
    expect(saidSince(earlier).join('\n'))
      .to.include('cannot post here at the moment, because it was not granted `discord_send`')
      .and.not.include('ask again');
  });

  it('the requester, the errors and the status report it when the agent no longer exists at the Letta server', async () => {
    await bot.admin('!relay agent agent-00000000-0000-4000-8000-999999999999 aurora');
    const earlier = bot.general.messages.length;
    await bot.says(bot.alice, `${bot.bot} hello?`);
    expect(saidSince(earlier).join('\n')).to.match(/agent/);
    expect(await bot.admin('!relay errors')).to.not.include('Nothing went wrong');
    expect(await bot.admin('!relay status')).to.include('is gone: the Letta server knows no agent');
  });
});
