import { createTestHost, type TestHost } from '@cinnabar/core/testing';
import type { LocalUser } from '@cinnabar/local-discord';
import { expect } from 'chai';

describe('administration in German', () => {
  let host: TestHost;
  const say = async (user: LocalUser, text: string) => {
    user.say(host.general, text);
    await host.settled();
    return host.general.messages.at(-1)?.content ?? '';
  };
  before(async () => {
    host = await createTestHost({ plugins: ['admin', 'party'] });
    await say(host.alice, '!language me de');
    await say(host.you, '!language me de');
  });
  after(() => host[Symbol.asyncDispose]());

  it('says why a member is refused', async () => {
    expect(await say(host.alice, '!plugin disable party')).to.equal(
      'Das darfst du nicht: du musst hier mindestens ein Admin sein, und du bist ein gewöhnliches Mitglied',
    );
  });

  it('explains to an admin why a member may not use something', async () => {
    const lines = (await say(host.you, `!access explain <@${host.alice.id}> plugin disable`)).split('\n');
    expect(lines).to.deep.equal([
      `**Befehl \`plugin disable\` für <@${host.alice.id}> in <#${host.general.id}>**, mit den Worten, die dort zu lesen wären`,
      '⛔ `plugin disable`: verweigert',
      '  ✓ das hier ist auf einem Server',
      '  ✓ das Plugin „admin“ ist hier eingeschaltet',
      '  ✗ du musst hier mindestens ein Admin sein, und du bist ein gewöhnliches Mitglied',
    ]);
  });

  it('names a rule that refuses, and takes it back', async () => {
    expect(await say(host.you, `!access deny "prefix show" <@${host.alice.id}>`)).to.equal(
      `Ab jetzt verbiete ich den Befehl \`prefix show\` für <@${host.alice.id}>.`,
    );
    expect(await say(host.alice, '!prefix show')).to.equal(
      `Das darfst du nicht: eine Regel dieses Servers verbietet den Befehl \`prefix show\` für <@${host.alice.id}>`,
    );
    expect(await say(host.you, '!access clear "prefix show"')).to.match(
      /^1 Regel entfernt:\n• verbiete den Befehl `prefix show`/,
    );
  });

  it('finds the first obstacle, with its remedy', async () => {
    const text = await say(host.alice, '!diagnose me plugin disable');
    expect(text).to.include(`**Befehl \`plugin disable\` für <@${host.alice.id}>**`);
    expect(text).to.include('✓ das Plugin „admin“ läuft');
    expect(text).to.include('✓ Discord schickt mir die Ereignisse, die es braucht');
    expect(text).to.include('**Erstes Hindernis**: du musst hier mindestens ein Admin sein');
    expect(text).to.include(
      `**Abhilfe**: Ein Admin erlaubt es mit \`access allow "plugin disable" <@${host.alice.id}>\``,
    );
    expect(await say(host.you, '!diagnose me party')).to.include('Hier steht nichts im Weg.');
  });

  it('says what a setting takes when a value is refused', async () => {
    expect(await say(host.you, '!set admin suggestions vielleicht')).to.equal(
      'Der Wert für „suggestions“ stimmt nicht: es muss sein: ja oder nein (yes, no), nicht „vielleicht“.',
    );
    expect(await say(host.you, '!set admin backupHours 1000')).to.equal(
      'Der Wert für „backupHours“ stimmt nicht: es muss sein: ganze Zahl von 0 bis 744, nicht „1000“.',
    );
    expect(await say(host.you, '!set admin sugestions no')).to.equal(
      'Das Plugin „admin“ hat keine Einstellung „sugestions“. Meinst du „suggestions“?',
    );
    expect(await say(host.alice, '!set admin suggestions no')).to.equal(
      'Das darfst du nicht: nur ein Admin darf Einstellungen des Servers ändern.',
    );
    expect(await say(host.you, '!set admin suggestions no')).to.equal(
      '`suggestions` von `admin` ist für diesen Server jetzt `false`.',
    );
  });

  it('tells the owner of the bot why a plugin is not loaded or unloaded', async () => {
    expect(await say(host.you, '!plugin load party')).to.equal('Das Plugin „party“ ist schon gestartet.');
    expect(await say(host.you, '!plugin unload admin')).to.equal(
      'Das Plugin „admin“ lässt sich nicht abschalten: ohne es gäbe es keinen Weg, es wieder einzuschalten.',
    );
  });

  it('says how commands start, which roles count and what a tool may', async () => {
    expect(await say(host.you, '!prefix show')).to.equal(
      'Befehle beginnen hier mit `!` oder mit einer Erwähnung von mir.',
    );
    expect(await say(host.you, '!roles list')).to.equal('Admins: keine Rolle\nModeratoren: keine Rolle');
    expect(await say(host.you, '!tool policy view_party_members confirm')).to.equal(
      'Die Vorgabe für `view_party_members` ist hier `confirm`: es fragt immer nach einer Bestätigung.',
    );
    expect(await say(host.you, '!plugin info party')).to.include('\nZustand: läuft, hier an\n');
  });
});
