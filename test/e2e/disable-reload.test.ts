import { fileURLToPath } from 'node:url';
import type { LocalChannel, LocalUser } from '@cinnabar/local-discord';
import { callTool, type ModelScript, say, startOpenAiStandIn } from '@cinnabar/local-models';
import { expect } from 'chai';
import { useFolder } from '../core/plugins/support/folder.js';
import { contents, startWholeBot } from './support/whole-bot.js';

const PARTY_TOOLS = ['add_party_character', 'remove_party_character', 'view_party_members', 'recommend_gear'];
const DICE = fileURLToPath(new URL('../../../examples/dice', import.meta.url));

/** The whole bot with the plugin dice in two guilds, and a model that answers "Hello." to everything. */
async function openGuilds(script: ModelScript = () => say('Hello.')) {
  const model = await startOpenAiStandIn({ script });
  const bot = await startWholeBot({ more: [DICE], env: { OPENAI_BASE_URL: model.baseUrl } });
  const other = bot.discord.createGuild({ name: 'Pacifica', owner: bot.you });
  other.invite(bot.application);
  other.join(bot.alice);
  const lounge = other.createChannel({ name: 'lounge' });
  await bot.settled();
  return {
    bot,
    model,
    lounge,
    /** The only answer to a command. */
    async answer(text: string, from: LocalUser = bot.you, where: LocalChannel = bot.general) {
      return contents(await bot.hears(text, from, where)).join('\n');
    },
    /** The tools that a turn of alice's offers to the model. */
    async offeredIn(where: LocalChannel) {
      const asked = model.requests.length;
      await bot.hears('!ai Hello', bot.alice, where);
      expect(model.requests.length).to.equal(asked + 1);
      return model.requests.at(-1)?.prompt.tools ?? [];
    },
    slashCommandsIn: (where: LocalChannel) =>
      [...(bot.application.guildCommands.get(where.guild?.id ?? '')?.values() ?? [])].map(({ name }) => name),
    async [Symbol.asyncDispose]() {
      await bot[Symbol.asyncDispose]();
      await model[Symbol.asyncDispose]();
    },
  };
}

describe('a plugin that is switched off in one guild', () => {
  it('is gone there from the model, the help and the slash commands, and nowhere else; nothing is restarted', async () => {
    await using guilds = await openGuilds();
    const { bot, lounge, answer, offeredIn, slashCommandsIn } = guilds;
    const { general, alice } = bot;
    const owners = bot.plugins.owners();
    const connectedAt = bot.client.readyTimestamp;

    expect(await offeredIn(general)).to.include.members([...PARTY_TOOLS, 'roll_die']);
    expect(slashCommandsIn(general)).to.include('roll');
    expect(await answer('!help party', alice)).to.include('add {name} to my party');
    expect(await answer('!help', alice)).to.include('(`roll`');
    expect(await answer('!plugin disable party', alice)).to.match(/^You may not do that: .*admin/);

    expect(await answer('!plugin disable party')).to.match(/^`party` is off in this server now\./);
    expect(await answer('!plugin disable dice')).to.match(/^`dice` is off/);
    const offered = await offeredIn(general);
    expect(offered.filter((tool) => [...PARTY_TOOLS, 'roll_die'].includes(tool))).to.deep.equal([]);
    expect(await answer('!help', alice)).to.not.match(/party|roll/);
    expect(await answer('!help party', alice)).to.match(/no command, plugin or tool called `party`/);
    expect(await answer('!roll', alice)).to.equal('That command is not available here at the moment.');
    expect(slashCommandsIn(general)).to.not.include('roll');
    expect(() => alice.slash(general, 'roll')).to.throw(/No command "roll"/);

    expect(await offeredIn(lounge)).to.include.members([...PARTY_TOOLS, 'roll_die']);
    expect(await answer('!help party', alice, lounge)).to.include('add {name} to my party');
    expect(await answer('!roll', alice, lounge)).to.match(/^🎲 \d/);
    expect(slashCommandsIn(lounge)).to.include('roll');

    expect(await answer('!plugin enable party')).to.equal('`party` is on in this server now.');
    await answer('!plugin enable dice');
    expect(await offeredIn(general)).to.include.members([...PARTY_TOOLS, 'roll_die']);
    expect(await answer('!help party', alice)).to.include('add {name} to my party');
    expect(slashCommandsIn(general)).to.include('roll');
    expect(await answer('!roll', alice)).to.match(/^🎲 \d/);

    expect(bot.plugins.owners()).to.deep.equal(owners);
    expect(bot.client.readyTimestamp).to.equal(connectedAt);
  });

  it('runs nothing there any more, neither for a model that calls all the same nor for a card from before', async () => {
    const call = callTool('add_party_character', { name: 'V', role: 'Solo' });
    await using guilds = await openGuilds(({ results }) => (results.length > 0 ? say(results.join()) : call));
    const { bot, answer } = guilds;
    const { alice, general } = bot;
    const [card] = await bot.hears('!ai Add V');
    if (card === undefined) throw new Error('there is no card');
    await answer('!plugin disable party');
    const [refused] = await bot.saidDuring(() => alice.react(card, '👍'));
    expect(refused?.content).to.match(/party.*off/i);
    expect(contents(await bot.hears('!ai Add V')).join()).to.match(/switched off here/);
    expect(general.messages.filter(({ content }) => content.startsWith('📋'))).to.have.length(1);

    await answer('!plugin enable party');
    const [view] = await bot.hears('!ai Add V');
    if (view === undefined) throw new Error('there is no card');
    expect(contents(await bot.saidDuring(() => alice.react(view, '👍')))).to.deep.equal([
      `✓ V has been added to your party!\n-# for ${alice}`,
    ]);
  });

  it('cannot be the one that switches plugins on again', async () => {
    await using guilds = await openGuilds();
    expect(await guilds.answer('!plugin disable admin')).to.match(/cannot be switched off/);
    expect(await guilds.answer('!plugin list')).to.include('`admin`');
  });
});

const echo = (version: string, text: string) => `
import { definePlugin } from '@cinnabar/sdk';
export default definePlugin({
  manifest: { id: 'echo', version: '${version}', description: 'Answers' },
  setup({ command }) {
    command({ name: 'echo', description: 'Answers', run: (context) => context.reply('${text}') });
  },
});
`;

describe('a plugin that is reloaded', () => {
  const folder = useFolder();
  const FILE = 'plugins/echo/index.ts';

  it('goes on in its old version, and says so, until what was saved is right', async () => {
    await folder.write({ [FILE]: echo('1.0.0', 'one') });
    await using bot = await startWholeBot({ more: [folder.at('plugins/echo')] });
    const answer = async (text: string, from: LocalUser = bot.you) => contents(await bot.hears(text, from)).join('\n');
    const slash = async () => {
      const interaction = bot.alice.slash(bot.general, 'echo');
      await bot.settled();
      return interaction.response?.content;
    };
    expect(await answer('!echo')).to.equal('one');

    await folder.write({ [FILE]: echo('1.1.0', 'two').replace('setup({', 'setup({{') });
    expect(await answer('!plugin reload echo', bot.alice)).to.match(/^You may not do that/);
    expect(await answer('!plugin reload echo'))
      .to.match(/index\.ts:5:\d+/)
      .and.match(/still running 1\.0\.0/i);
    expect(await answer('!echo')).to.equal('one');
    expect(await slash()).to.equal('one');

    await folder.write({ [FILE]: echo('1.1.0', 'two').replace('command({', 'throw new Error("no"); command({') });
    expect(await answer('!plugin reload echo')).to.match(/still running 1\.0\.0/i);
    expect(await answer('!echo')).to.equal('one');
    expect(await answer('!plugin list')).to.include('`echo` 1.0.0, running');

    await folder.write({ [FILE]: echo('1.1.0', 'two') });
    expect(await answer('!plugin reload echo')).to.include('1.0.0 → 1.1.0');
    expect(await answer('!echo')).to.equal('two');
    expect(await slash()).to.equal('two');
  });

  it('is taken back whole by unload, and is there again after load, with its data', async () => {
    await using bot = await startWholeBot();
    const answer = async (text: string, from: LocalUser = bot.you) => contents(await bot.hears(text, from)).join('\n');
    const confirmed = async (text: string) => {
      const [card] = await bot.hears(text);
      if (card === undefined) throw new Error('there is no card');
      return contents(await bot.saidDuring(() => bot.alice.react(card, '👍'))).join();
    };
    await confirmed("!ai Add V to my party, he's a Solo");
    expect(await answer('!plugin unload party')).to.equal('Unloaded `party`.');
    expect(await answer('!ai Who is in my party?', bot.alice)).to.match(/offline model/);
    expect(await answer('!help', bot.alice)).to.not.include('party');
    expect(await answer('!plugin load party')).to.match(/^Loaded `party` \d/);
    expect(await confirmed('!ai Who is in my party?')).to.match(/V.*Solo/);
    for (const id of ['llm', 'chat', 'confirm', 'ai']) {
      expect(await answer(`!plugin reload ${id}`)).to.match(/^Reloaded/);
      expect(await confirmed('!ai Who is in my party?'), id).to.match(/V.*Solo/);
    }
    expect(await answer('!plugin load nosuch')).to.match(/There is no plugin called "nosuch"/);
  });
});
