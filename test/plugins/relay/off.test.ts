import { Identities, Tools } from '@cinnabar/sdk';
import { expect } from 'chai';
import { type AgentBot, type AgentBotOptions, namedIn, settleAgent, shareAgentBot, startAgentBot } from './harness.js';

describe('relay: disabled agents', () => {
  let bot: AgentBot;
  /** The outcomes of the agent's tool calls after it was released. */
  let late: string[];
  let isHeld = false;
  const options: AgentBotOptions = {
    plugins: ['admin'],
    async script(turn) {
      const { channelId } = namedIn(turn.prompt);
      if (!turn.prompt.includes('work on it') || !isHeld) {
        await turn.callTool('discord_send', { channelId, message: 'Here I am.' });
        return;
      }
      await turn.hang();
      for (const [tool, input] of [
        ['discord_read_messages', { channelId }],
        ['discord_send', { channelId, message: 'Too late.' }],
      ] as const) {
        // The server lets the step of a cancelled run end.
        const { status, text } = await turn.callTool(tool, input).catch(() => ({ status: 'cancelled', text: '' }));
        late.push(`${status}: ${text}`);
      }
    },
  };
  const open = shareAgentBot(options);
  beforeEach(async () => {
    late = [];
    isHeld = false;
    bot = await open();
  });
  afterEach(() => bot[Symbol.asyncDispose]());

  const saidIn = (where = bot.general) => where.messages.map(({ content }) => content);
  /** Disables something while the agent works, then lets the agent continue. */
  const whileAtWork = async (switchOff: () => Promise<unknown>, ask: () => unknown) => {
    isHeld = true;
    ask();
    await bot.letta.hanging();
    await switchOff();
    await bot.advance(2_500);
    await bot.settled();
    bot.letta.release();
    await bot.quiet();
  };
  const admin = async (text: string, where = bot.general) => {
    bot.you.say(where, text);
    await bot.settled();
  };
  const goneOn = () => late.filter((line) => !/^(error|cancelled)/.test(line));

  for (const off of ['!relay disable', '!plugin disable relay']) {
    it(`after \`${off}\` an agent at work reads and posts nothing more, its run is cut, and who asked is told`, async () => {
      await settleAgent(bot);
      const earlier = bot.general.messages.length;
      await whileAtWork(
        () => admin(off),
        () => bot.alice.say(bot.general, `${bot.bot} work on it`),
      );
      expect(goneOn()).to.deep.equal([]);
      expect(saidIn().slice(earlier)).to.not.include('Too late.');
      expect(saidIn().slice(earlier).join('\n')).to.include('There will be no answer');
      expect(bot.letta.requests.some(({ path }) => path.endsWith('/cancel'))).to.equal(true);
    });
  }

  it('an agent that is switched off and on again needs no new setup', async () => {
    await settleAgent(bot);
    await bot.admin('!relay disable');
    await bot.admin('!relay enable');
    await bot.says(bot.alice, `${bot.bot} hello`);
    expect(saidIn().at(-1)).to.equal('Here I am.');
  });

  for (const [off, where] of [
    ['!relay dm off', 'direct'],
    ['!ai use default', 'direct'],
    ['!relay dm agent none', 'general'],
  ] as const) {
    it(`after \`${off}\` the agent of a member's direct messages reads and posts nothing more there`, async () => {
      bot = await startAgentBot(options);
      await bot.admin(`!relay dm agent ${bot.letta.addAgent({ name: 'confidant' }).id}`);
      const dm = bot.you.openDm(bot.application);
      for (const said of ['!relay dm on', '!ai use relay', '!relay dm setup']) await bot.says(bot.you, said, dm);
      expect(saidIn(dm)).to.include('Here I am.');
      const earlier = dm.messages.length;
      await whileAtWork(
        () => admin(off, where === 'direct' ? dm : bot.general),
        () => bot.you.say(dm, 'work on it'),
      );
      expect(goneOn()).to.deep.equal([]);
      expect(saidIn(dm).slice(earlier)).to.not.include('Too late.');
      // The agent's token does not work either, whenever its server starts it.
      const [identity] = await bot.resolve(Identities).list(null);
      const outcome = await bot.resolve(Tools).invoke({
        name: 'discord_send',
        arguments: { channelId: dm.id, message: 'Psst.' },
        actor: { userId: bot.you.id, guildId: null, channelId: dm.id, identity: identity?.id ?? 'relay:dm' },
        origin: 'mcp',
      });
      expect(outcome.status).to.equal('denied');
    });
  }

  it('`diagnose` names what keeps messages from the agents, and after its remedy one answers', async () => {
    await settleAgent(bot);
    const diagnosed = async () => {
      await admin(`!diagnose ${bot.alice} ai`);
      return /\*\*First obstacle\*\*: (.*)\. \*\*Remedy\*\*: .*`(relay [^`]+)`/.exec(saidIn().at(-1) ?? '') ?? [];
    };
    for (const [put, named] of [
      ['!relay pause', 'the agents of this server are paused'],
      ['!relay mode off', 'nothing reaches the agents from this channel: its mode is `off`'],
      ['!relay disable', 'The agents of this server are switched off'],
    ] as const) {
      await admin(put);
      const [, obstacle, remedy] = await diagnosed();
      expect(obstacle).to.equal(named);
      const before = saidIn().filter((text) => text === 'Here I am.').length;
      await admin(`!${remedy}`);
      expect(saidIn().at(-1)).to.not.include('There is no');
      await admin(`!diagnose ${bot.alice} ai`);
      expect(saidIn().at(-1)).to.include('Nothing stands in the way here.');
      bot.alice.say(bot.general, `${bot.bot} are you there?`);
      await bot.settled();
      await bot.advance(2_500);
      await bot.quiet();
      expect(saidIn().filter((text) => text === 'Here I am.')).to.have.length(before + 1);
    }
  });
});
