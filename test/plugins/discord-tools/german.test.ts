import { expect } from 'chai';
import { openToolsHarness } from './harness.js';

describe('discord-tools in German', () => {
  it('asks on a card and says what was done', async () => {
    await using harness = await openToolsHarness({ plugins: ['admin', 'discord-tools', 'confirm'] });
    const { host, guild, general, mod, alice } = harness;
    const role = guild.createRole({ name: 'Netrunners', position: 4 });
    alice.say(general, 'hello');
    mod.say(general, '!language me de');
    await host.settled();

    await harness.call(mod, 'discord_assign_role', { guildId: guild.id, userId: alice.id, roleId: role.id });
    const card = general.messages.at(-1);
    if (card === undefined) throw new Error('there is no card');
    expect(card.content).to.contain('Ich gebe @alice die Rolle Netrunners').and.contain('ID des Nutzers');
    mod.react(card, '👍');
    await host.settled();
    expect(general.messages.at(-1)?.content).to.contain('✓ **alice** hat jetzt die Rolle **Netrunners**.');
  });

  it('shows results and refuses in the language of the member who called', async () => {
    await using harness = await openToolsHarness({ plugins: ['admin', 'discord-tools'] });
    const { host, guild, general, mod, alice, bob } = harness;
    for (const member of [mod, bob]) member.say(general, '!language me de');
    await host.settled();

    const created = await harness.done(mod, 'discord_create_category', { guildId: guild.id, name: 'Archiv' });
    expect(created).to.match(/^✓ Kategorie \*\*Archiv\*\* erstellt \(\d+\)\.$/);
    const pins = { channelId: general.id };
    expect(await harness.done(bob, 'discord_list_pins', pins)).to.equal('In #general ist nichts angeheftet.');
    expect(await harness.done(alice, 'discord_list_pins', pins)).to.equal('Nothing is pinned in #general.');
    const read = await harness.done(bob, 'discord_read_messages', { channelId: general.id, limit: 2 });
    expect(read).to.match(
      /^2 Nachrichten in #general \(\d+\), die älteste zuerst\.\n\n.+ \(Bot \d+\) · Nachricht \d+ · /,
    );
    expect(await harness.refused(bob, 'discord_read_message', { channelId: general.id, messageId: 'x' })).to.equal(
      'Eine Nachricht wird mit ihrer ID oder einem Link zu ihr angegeben.',
    );
  });
});
