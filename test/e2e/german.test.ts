import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { type LocalUser, REST_EXCHANGES } from '@cinnabar/local-discord';
import { callTool, type StandIn, say, startOpenAiStandIn } from '@cinnabar/local-models';
import { expect } from 'chai';
import { Locale } from 'discord.js';
import { createWatch } from '../support/untranslated/watch.js';
import { contents, startWholeBot, type WholeBot } from './support/whole-bot.js';

describe('a German member', () => {
  let model: StandIn;
  let bot: WholeBot;
  // Records untranslated texts: they are found when they are sent.
  const watch = createWatch();
  const english = () => watch.untranslated().map(({ text, file }) => `${text} (${file})`);
  const answer = async (text: string, from: LocalUser = bot.alice) => contents(await bot.hears(text, from)).join('\n');

  before(async () => {
    model = await startOpenAiStandIn({
      script: ({ results }) =>
        results.length > 0 ? say('V is one of us.') : callTool('add_party_character', { name: 'V', role: 'Solo' }),
    });
    bot = await startWholeBot({ env: { OPENAI_BASE_URL: model.baseUrl } });
    subscribe(REST_EXCHANGES, watch.sent);
    bot.bob.locale = Locale.German;
    await answer('!language me de');
    await answer('!language me de', bot.you);
  });
  after(async () => {
    unsubscribe(REST_EXCHANGES, watch.sent);
    await bot[Symbol.asyncDispose]();
    await model[Symbol.asyncDispose]();
  });
  afterEach(() => {
    expect(english()).to.deep.equal([]);
  });

  it('reads what the bot can do, and how each of it is used', async () => {
    expect(await answer('!help')).to.include('**Was ich hier für dich tun kann**');
    for (const topic of ['admin', 'moderation', 'reminders', 'party', 'remind', 'ai', 'why'])
      expect(await answer(`!help ${topic}`), topic).to.not.equal('');
    expect(await answer('!help gibtesnicht')).to.match(/^Es gibt keinen Befehl, kein Plugin und kein Werkzeug/);
    await answer('!help admin', bot.you);
  });

  it('has a card to confirm, and the answer of the model as it is', async () => {
    const [card] = await bot.hears("!ai Add V to my party, he's a Solo");
    if (card === undefined) throw new Error('there is no card');
    expect(card.content).to.include('Ich füge V zu deiner Gruppe hinzu');
    const said = contents(await bot.saidDuring(() => bot.alice.react(card, '👍'))).join('\n');
    expect(said).to.include('✓ V gehört jetzt zu deiner Gruppe!');
    expect(model.requests.at(0)?.prompt.tools).to.include('add_party_character');
  });

  it('reads why, and what waits for it', async () => {
    expect(await answer('!why')).to.not.equal('');
    expect(await answer('!remind me in 2h Tee')).to.match(/^Erinnerung 1 ist gesetzt/);
    expect(await answer('!reminders list')).to.include('Tee');
  });

  it('is refused with a reason', async () => {
    expect(await answer('!plugin disable party')).to.match(/^Das darfst du nicht: du musst hier mindestens ein Admin/);
    expect(await answer('!reminde')).to.include('Meinst du');
  });

  it('goes by the language of their Discord with slash commands, and changes a setting with menus', async () => {
    const shown = bot.bob.slash(bot.general, 'help', { topic: 'remind' });
    await bot.settled();
    expect(contents(shown.messages).join()).to.include('Wer es verwenden darf');
    const page = bot.you.slash(bot.general, 'settings', {});
    await bot.settled();
    expect(contents(page.messages).join()).to.include('**Einstellungen**');
    const menu = page.messages[0];
    if (menu === undefined) throw new Error('there is no page');
    bot.you.select(menu, 'Plugin wählen', ['moderation']);
    await bot.settled();
  });

  it('reads as an admin what the server has, and what was done', async () => {
    const asked = [
      'plugin list',
      'plugin info party',
      'tool list moderation',
      'set moderation',
      'access list',
      'server export',
    ];
    for (const command of [...asked, `diagnose ${bot.alice} kick`, 'audit', 'cost', 'bot info', 'mydata', 'why'])
      expect(await answer(`!${command}`, bot.you), command).to.not.equal('');
  });

  it('has descriptions of commands in the menu of their Discord', () => {
    const commands = [...(bot.application.guildCommands.get(bot.guild.id)?.values() ?? [])];
    expect(commands.length).to.be.at.least(20);
    const without = commands.filter(({ description_localizations: told }) => told?.de === undefined);
    expect(without.map(({ name }) => name)).to.deep.equal([]);
  });
});
