import { createTestHost } from '@cinnabar/core/testing';
import { SettingsCatalog, Tools } from '@cinnabar/sdk';
import { expect } from 'chai';

/** A host that renders a card for every call. */
async function openParty() {
  const host = await createTestHost({ plugins: ['admin', 'party', 'confirm'] });
  const at = (user: typeof host.alice) => ({ userId: user.id, guildId: host.guild.id, channelId: host.general.id });
  return {
    host,
    async configure(key: string, value: string) {
      await host.resolve(SettingsCatalog).set('party', key, value, at(host.you));
    },
    /** The lines of a call's card, or the reason why there is none. */
    async card(name: string, input: Readonly<Record<string, unknown>>, user = host.alice) {
      const outcome = await host.resolve(Tools).invoke({ name, arguments: input, actor: at(user), origin: 'test' });
      await host.settled();
      if (outcome.status === 'failed') return [outcome.error.message];
      return host.general.messages.at(-1)?.content.split('\n').slice(2, -2) ?? [];
    },
    async press() {
      const card = host.general.messages.at(-1);
      if (card !== undefined) host.alice.react(card, '👍');
      await host.settled();
    },
    [Symbol.asyncDispose]: () => host[Symbol.asyncDispose](),
  };
}

describe('the card of a change to the party', () => {
  it('says what is added, and then only what changes: "change V: role Solo → Netrunner"', async () => {
    await using party = await openParty();
    const gear = { gear_preferences: ['Rifles'] };
    expect(await party.card('add_party_character', { name: 'V', role: 'Solo' })).to.deep.equal([
      "I'll add V to your party:",
      '• Role: Solo',
      '• Gear Preferences: None',
    ]);
    await party.card('add_party_character', { name: 'V', role: 'Solo', ...gear });
    await party.press();
    expect(await party.card('add_party_character', { name: 'v', role: 'Netrunner' })).to.deep.equal([
      "I'll change V: role Solo → Netrunner (your party):",
      '• Name: v',
    ]);
    expect((await party.card('add_party_character', { name: 'V', role: 'Netrunner', ...gear }))[0]).to.equal(
      "I'll change V: role Solo → Netrunner (your party):",
    );
  });

  it('says whose party it is', async () => {
    await using party = await openParty();
    for (const [owner, whose] of [
      ['user', 'your party'],
      ['channel', "this channel's party"],
      ['guild', "this server's party"],
    ] as const) {
      await party.configure('owner', owner);
      expect((await party.card('add_party_character', { name: 'V', role: 'Solo' }))[0]).to.equal(
        `I'll add V to ${whose}:`,
      );
      expect((await party.card('remove_party_character', { name: 'V' }))[0]).to.equal(`I'll remove V from ${whose}.`);
      expect((await party.card('view_party_members', {}))[0]).to.equal(`I'll show the members of ${whose}.`);
    }
  });

  it('is not offered for the character of another member in a shared party', async () => {
    await using party = await openParty();
    await party.configure('owner', 'channel');
    await party.card('add_party_character', { name: 'V', role: 'Solo' });
    await party.press();
    const known = party.host.general.messages.length;
    expect(await party.card('remove_party_character', { name: 'V' }, party.host.bob)).to.have.length(1);
    expect(party.host.general.messages).to.have.length(known);
  });

  it('is drawn in the language of the member who asked, and so is what became of it', async () => {
    await using party = await openParty();
    const { host } = party;
    host.alice.say(host.general, '!language me de');
    await host.settled();
    expect(await party.card('add_party_character', { name: 'V', role: 'Solo' })).to.deep.equal([
      'Ich füge V zu deiner Gruppe hinzu:',
      '• Rolle: Solo',
      '• Vorlieben bei der Ausrüstung: Nichts',
    ]);
    await party.press();
    expect(host.general.messages.at(-1)?.content).to.include('✓ V gehört jetzt zu deiner Gruppe!');
  });
});
