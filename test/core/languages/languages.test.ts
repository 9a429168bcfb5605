import { createTestHost, type TestHost } from '@cinnabar/core/testing';
import type { LocalMessage, LocalUser } from '@cinnabar/local-discord';
import { currentLocale, definePlugin, Languages, t } from '@cinnabar/sdk';
import { expect } from 'chai';
import { Locale } from 'discord.js';
import { inGerman } from '../../support/languages.js';

const WARNINGS = 'You have {count, plural, =0 {no warnings} one {# warning} other {# warnings}}, {name}.';

interface Given {
  languages?: Languages;
  /** The language in which the plugin was set up, and in which its timers and connections continue. */
  locale?: string;
}

/** Reports a number of warnings, in every way in which it can be called. */
const clerk = (given: Given) =>
  definePlugin({
    manifest: { id: 'clerk', version: '1.0.0', description: 'Counts' },
    inject: { languages: Languages },
    setup({ command, component, services }) {
      const button = component({ name: 'count', run: (interaction) => interaction.reply('1') });
      command({
        name: 'card',
        description: 'Shows a button',
        run: (ctx) =>
          ctx.reply({
            content: 'Count',
            components: [{ type: 1, components: [{ type: 2, style: 1, label: 'Go', custom_id: button.customId() }] }],
          }),
      });
      given.languages = services.languages;
      given.locale = currentLocale();
      command({
        name: 'warnings',
        description: 'Says how many there are',
        run: (ctx) => ctx.reply(t(WARNINGS, { count: 1, name: ctx.user.username })),
      });
    },
  });

describe('languages', () => {
  const given: Given = {};
  let host: TestHost;
  const say = async (user: LocalUser, text: string) => {
    user.say(host.general, text);
    await host.settled();
    return host.general.messages.at(-1)?.content;
  };
  const slash = async (user: LocalUser, name: string) => {
    const interaction = user.slash(host.general, name, {});
    await host.settled();
    const answers: readonly LocalMessage[] = interaction.messages;
    return answers.at(-1)?.content;
  };
  before(async () => {
    host = await createTestHost({ plugins: ['admin', clerk(given)] });
  });
  after(() => host[Symbol.asyncDispose]());

  it('writes plurals and values in English where nothing was chosen', async () => {
    expect(await say(host.alice, '!warnings')).to.equal('You have 1 warning, alice.');
  });

  it('writes to a member in the language that the member chose, and stays with English where a text is not translated', async () => {
    expect(await say(host.alice, '!language me de')).to.equal('Ab jetzt schreibe ich dir auf Deutsch.');
    expect(await say(host.alice, '!language show')).to.equal(
      'Ich schreibe dir auf Deutsch. Deine Wahl: de. Für diesen Server: auto.',
    );
    expect(await say(host.alice, '!warnings')).to.equal('You have 1 warning, alice.');
    expect(await say(host.you, '!language show')).to.include('I write to you in');
    expect(await say(host.alice, '!language me auto')).to.equal('From now on I write to you in English.');
  });

  it('says which languages there are when another one is wanted', async () => {
    expect(await say(host.alice, '!language me klingon')).to.include('I speak `en`, `de`.');
  });

  it("follows the language of a member's Discord, below what the member chose", async () => {
    host.alice.locale = Locale.German;
    expect(await slash(host.alice, 'language show')).to.include('Ich schreibe dir auf Deutsch.');
    await say(host.alice, '!language me en');
    expect(await slash(host.alice, 'language show')).to.include('I write to you in English.');
    await say(host.alice, '!language me auto');
    host.alice.locale = Locale.EnglishUS;
  });

  it('writes in the language of the server to members who have not chosen, when an admin chose it', async () => {
    expect(await say(host.alice, '!language server de')).to.include('you need to be at least an admin');
    expect(await say(host.you, '!language server de')).to.equal('Ab jetzt schreibe ich hier auf Deutsch.');
    expect(await say(host.alice, '!language show')).to.include('Ich schreibe dir auf Deutsch.');
    const inBackground = await given.languages?.speak({ guildId: host.guild.id }, () => t('Nothing was chosen.'));
    expect(inBackground).to.equal('Nothing was chosen.');
    await say(host.you, '!language server auto');
    expect(await say(host.alice, '!language show')).to.include('I write to you in English.');
  });

  it('says in it, too, that what is pressed is switched off', async () => {
    await say(host.you, '!card');
    const card = host.general.messages.at(-1);
    if (card === undefined) throw new Error('there is no card');
    await say(host.you, '!plugin disable clerk');
    host.alice.locale = Locale.German;
    const press = host.alice.click(card, 'Go');
    await host.settled();
    expect(press.messages.at(-1)?.content).to.include('Das geht hier im Moment nicht');
    host.alice.locale = Locale.EnglishUS;
    await say(host.you, '!plugin enable clerk');
  });

  it('does not stay with what a command began: a plugin that is reloaded in German starts in English', async () => {
    await say(host.you, '!language me de');
    delete given.locale;
    await say(host.you, '!plugin reload clerk');
    await say(host.you, '!language me auto');
    expect(given.locale).to.equal('en');
  });

  it('lets no plugin change the texts of the host or of another plugin', async () => {
    const others = ['first', 'second'].map((name) => `test/fixtures/languages/${name}`);
    const texts = await inGerman(others, () => [t('Cancelled: nothing was done.'), t('Denied.'), t('Hello.')]);
    expect(texts).to.deep.equal(['Abgebrochen: Es ist nichts geschehen.', 'Verboten.', 'Hallo.']);
  });
});
