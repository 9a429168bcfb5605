import type { LocalMessage } from '@cinnabar/local-discord';
import { callTool, callTools, type ModelStep, say, startOpenAiStandIn } from '@cinnabar/local-models';
import { definePlugin } from '@cinnabar/sdk';
import { expect } from 'chai';
import { createVault } from './support/vault-plugin.js';
import { contents, startWholeBot, type WholeBotOptions } from './support/whole-bot.js';

const OPEN = callTool('open_vault');
const WRITE = callTool('write_board', { text: 'hello' });

/** The whole bot with a vault, and a model that makes the requested calls and repeats their outcomes. */
async function openVault(options: Pick<WholeBotOptions, 'more'> = {}) {
  let step: ModelStep = say('Hello.');
  const model = await startOpenAiStandIn({
    script: ({ results }) => (results.length > 0 ? say(results.join()) : step),
  });
  const vault = createVault();
  const bot = await startWholeBot({
    more: [vault.plugin, ...(options.more ?? [])],
    env: { OPENAI_BASE_URL: model.baseUrl },
  });
  return {
    bot,
    model,
    done: vault.done,
    /** The bot's messages when the model makes this call for a member. */
    async calls(call: ModelStep, from = bot.alice, where = bot.general): Promise<readonly LocalMessage[]> {
      step = call;
      return bot.hears('!ai Go on', from, where);
    },
    /** The bot's messages when a member reacts with 👍 to a card. */
    async approves(card: LocalMessage | undefined, from = bot.alice): Promise<string> {
      if (card?.content.startsWith('📋') !== true) throw new Error(`this is no card: ${card?.content}`);
      return contents(await bot.saidDuring(() => from.react(card, '👍'))).join('\n');
    },
    admin: async (text: string) => contents(await bot.hears(text, bot.you)).join('\n'),
    offered: () => model.requests.at(-1)?.prompt.tools ?? [],
    async [Symbol.asyncDispose]() {
      await bot[Symbol.asyncDispose]();
      await model[Symbol.asyncDispose]();
    },
  };
}

describe('a model that acts for a member', () => {
  it('is offered, and can run, only what the member may use; an `allow` policy gives no rights', async () => {
    await using vault = await openVault();
    const { bot, calls, approves, admin, offered, done } = vault;
    for (const policy of ['default', 'allow']) {
      await admin(`!tool policy open_vault ${policy}`);
      const said = contents(await calls(OPEN)).join();
      expect(said).to.match(/may not be used: you need to be at least a moderator/);
      expect(offered()).to.include('write_board').and.not.include('open_vault');
    }
    expect(done).to.deep.equal([]);

    await admin('!tool policy open_vault default');
    const [card] = await calls(OPEN, bot.you);
    await approves(card, bot.you);
    expect(done).to.deep.equal(['opened']);
  });

  it('asks again for the right when the call is about to run', async () => {
    await using vault = await openVault();
    const { bot, calls, approves, done } = vault;
    const warden = bot.guild.createRole({ name: 'Warden', permissions: ['ModerateMembers'] });
    bot.guild.giveRole(bot.alice, warden);
    const [card, second] = [(await calls(OPEN))[0], (await calls(OPEN))[0]];
    bot.guild.takeRole(bot.alice, warden);
    expect(await approves(card)).to.match(/at least a moderator/);
    expect(done).to.deep.equal([]);
    bot.guild.giveRole(bot.alice, warden);
    await approves(second);
    expect(done).to.deep.equal(['opened']);
  });

  it('cannot be brought to run what a policy denies, not by the owner, nor by a card from before', async () => {
    await using vault = await openVault();
    const { bot, calls, approves, admin, offered, done } = vault;
    const [card] = await calls(WRITE);
    await admin('!set confirm require []');
    expect(contents(await calls(WRITE)).join()).to.include('On the board: hello');
    expect(done.splice(0)).to.deep.equal(['hello']);
    expect(await admin('!tool policy write_board deny')).to.match(/nobody can use it here/);
    expect(await approves(card)).to.match(/forbid/);
    for (const member of [bot.alice, bot.you]) {
      expect(contents(await calls(WRITE, member)).join()).to.match(/forbid/);
      expect(offered()).to.not.include('write_board');
    }
    expect(done).to.deep.equal([]);
  });

  it('cannot switch the confirmation off with an argument', async () => {
    await using vault = await openVault();
    const sly = { text: 'hello', confirm: false, dry_run: true, approved: true, policy: 'allow' };
    const said = await vault.calls(callTool('write_board', sly));
    expect(said.every(({ content }) => !content.includes('On the board'))).to.equal(true);
    expect(vault.done).to.deep.equal([]);
  });

  it('gets several calls of one answer confirmed on one card, and only by the member who asked', async () => {
    await using vault = await openVault();
    const { bot, calls, approves, done } = vault;
    const texts = ['one', 'two', 'three'];
    const cards = await calls(callTools(texts.map((text) => ({ name: 'write_board', arguments: { text } }))));
    const [card] = cards;
    if (card === undefined) throw new Error('there is no card');
    expect(cards).to.have.length(1);
    for (const text of texts) expect(card.content).to.include(text);
    expect(await approves(card, bot.bob)).to.equal('');
    expect(await approves(card, bot.you)).to.equal('');
    expect(done).to.deep.equal([]);
    await approves(card);
    expect(done).to.deep.equal(texts);
    expect(await approves(card)).to.equal('');
    expect(done).to.deep.equal(texts);
  });

  it('takes no notice of a blocked member: no command, mention or reply reaches a model, and a card from before is not theirs to decide', async () => {
    await using vault = await openVault();
    const { bot, calls, approves, admin, done, model } = vault;
    const [card] = await calls(WRITE);
    if (card === undefined) throw new Error('there is no card');
    await admin(`!block add ${bot.alice}`);
    const requests = model.requests.length;
    for (const text of ['!ai Go on', `<@${bot.bot.id}> Go on`, 'm Go on', '!task Go on'])
      expect(contents(await bot.hears(text)), text).to.deep.equal([]);
    expect(contents(await bot.saidDuring(() => bot.alice.say(bot.general, 'Go on', { replyTo: card })))).to.deep.equal(
      [],
    );
    expect(await approves(card)).to.equal('');
    expect([model.requests.length - requests, done.length]).to.deep.equal([0, 0]);
    await admin(`!block remove ${bot.alice}`);
    await bot.hears(`<@${bot.bot.id}> Go on`);
    expect(model.requests.length - requests).to.be.above(0);
  });

  it('runs nothing while a plugin that guards tools is down, whether it failed or was unloaded', async () => {
    let starts = 0;
    const warden = definePlugin({
      manifest: { id: 'warden', version: '1.0.0', description: 'Watches', guard: true },
      setup() {
        starts += 1;
        if (starts === 2 || starts === 3) throw new Error('out of breath');
      },
    });
    await using vault = await openVault({ more: [warden] });
    const { calls, approves, admin, done } = vault;
    const [before] = await calls(WRITE);
    expect(await admin('!plugin reload warden')).to.match(/out of breath/);
    const down = /"warden", which guards tools here, is not running/;
    expect(contents(await calls(WRITE)).join()).to.match(down);
    expect(await approves(before)).to.match(down);
    expect(done).to.deep.equal([]);

    expect(await admin('!plugin reload warden')).to.match(/^Reloaded/);
    await admin('!plugin unload confirm');
    expect(contents(await calls(WRITE)).join()).to.match(/"confirm", which guards tools here, is not running/);
    expect(done).to.deep.equal([]);
    await admin('!plugin load confirm');
    await approves((await calls(WRITE))[0]);
    expect(done).to.deep.equal(['hello']);
  });

  it('knows nothing of another guild: neither its data nor what was said or asked for there', async () => {
    await using vault = await openVault();
    const { bot, model, calls, approves, admin } = vault;
    const other = bot.discord.createGuild({ name: 'Pacifica', owner: bot.you });
    other.invite(bot.application);
    other.join(bot.alice);
    const lounge = other.createChannel({ name: 'lounge' });
    await bot.settled();
    for (const where of [bot.general, lounge]) await bot.hears('!set party owner guild', bot.you, where);
    const add = callTool('add_party_character', { name: 'Rogue', role: 'Fixer' });
    await approves((await calls(add))[0]);
    await admin('The code of the vault is 7356.');

    const seen = model.requests.length;
    const [card] = await calls(callTool('view_party_members'), bot.alice, lounge);
    expect(await approves(card)).to.not.include('Rogue');
    await calls(say('Hello.'), bot.alice, lounge);
    const dm = bot.alice.openDm(bot.application);
    await calls(say('Hello.'), bot.alice, dm);
    const told = JSON.stringify(model.requests.slice(seen).map(({ body }) => body));
    expect(told).to.not.match(/Rogue|7356/);
    expect(contents(await bot.hears('!confirm pending', bot.alice, lounge)).join()).to.not.include('Rogue');

    const [inFirst] = await calls(callTool('view_party_members'));
    expect(await approves(inFirst)).to.include('Rogue');
  });
});
