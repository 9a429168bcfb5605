import { createTestHost } from '@cinnabar/core/testing';
import { type Actor, Identities, Tools } from '@cinnabar/sdk';
import { expect } from 'chai';

describe('the Discord tools in a request to a model', () => {
  it('are the common ones until an admin wants all or none; an agent sees what it was granted', async () => {
    await using host = await createTestHost({ plugins: ['discord-tools', 'admin'] });
    const actor: Actor = { userId: host.you.id, guildId: host.guild.id, channelId: host.general.id };
    const offered = async (who = actor) => (await host.resolve(Tools).offered(who)).map(({ name }) => name);
    const offer = async (which: string) => {
      host.you.say(host.general, `!set discord-tools offer ${which}`);
      await host.settled();
    };
    expect(await offered())
      .to.include.members(['discord_send', 'discord_read_messages'])
      .and.not.include('discord_delete_channel');
    await offer('all');
    expect(await offered()).to.include('discord_delete_channel');
    await offer('none');
    expect(await offered()).to.deep.equal([]);
    const grant = { ...actor, channels: 'all', tools: { discord_list_roles: 'allow' } } as const;
    await host.resolve(Identities).save({ id: 'relay:v', plugin: 'discord-tools', name: 'V', grants: [grant] });
    expect(await offered({ ...actor, identity: 'relay:v' })).to.deep.equal(['discord_list_roles']);
  });
});
