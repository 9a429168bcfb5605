import { expect } from 'chai';
import { openToolsHarness } from './harness.js';

describe('discord-tools: the cards that ask for a confirmation', () => {
  it('name what a call is about, show every argument, and run it once confirmed', async () => {
    await using harness = await openToolsHarness({ plugins: ['discord-tools', 'confirm'] });
    const { host, guild, general, mod, alice } = harness;
    const role = guild.createRole({ name: 'Netrunners', position: 4 });
    alice.say(general, 'hello');
    await host.settled();

    const input = { guildId: guild.id, userId: alice.id, roleId: role.id };
    expect((await harness.call(mod, 'discord_assign_role', input)).status).to.equal('deferred');
    const card = general.messages.at(-1);
    if (card === undefined) throw new Error('there is no card');
    expect(card.content).to.contain("I'll give @alice the role Netrunners").and.contain(role.id).and.contain(alice.id);
    expect(guild.memberOf(alice).roles.size).to.equal(0);

    mod.react(card, '👍');
    await host.settled();
    expect([...guild.memberOf(alice).roles]).to.deep.equal([role]);
  });

  it('mention the channel to which a link leads, so that only those who may see it read its name', async () => {
    await using harness = await openToolsHarness({ plugins: ['discord-tools', 'confirm'] });
    const { host, guild, general, mod, bob } = harness;
    const side = guild.createChannel({ name: 'side' });
    const message = bob.say(side, 'spam');
    await host.settled();
    const messageId = `https://discord.com/channels/${guild.id}/${side.id}/${message.id}`;
    await harness.call(mod, 'discord_delete_message', { channelId: general.id, messageId });
    expect(general.messages.at(-1)?.content).to.contain(`I'll delete a message in ${side}`);
    expect(general.messages.at(-1)?.content).to.not.contain('#side');
    expect(message.deleted).to.equal(false);
  });
});
