import { createTestHost } from '@cinnabar/core/testing';
import type { LocalUser } from '@cinnabar/local-discord';
import { Tools } from '@cinnabar/sdk';
import { expect } from 'chai';
import { answering } from '../admin/harness.js';

describe('tasks: who may start them', () => {
  it('is a matter of access rules: with them a role alone, by command and by the tool of a model', async () => {
    await using host = await createTestHost({ plugins: ['admin', 'tasks'] });
    const say = answering(host);
    const helpers = host.guild.createRole({ name: 'Helpers' });
    host.guild.giveRole(host.bob, helpers);
    await say(host.you, '!access deny task everyone');
    await say(host.you, '!access allow task Helpers');
    const denial = 'denies the command `task` for everyone';
    const start = async (user: LocalUser) => {
      const actor = { userId: user.id, guildId: host.guild.id, channelId: host.general.id };
      const input = { goal: 'count the doors' };
      return JSON.stringify(
        await host.resolve(Tools).invoke({ name: 'start_task', arguments: input, actor, origin: 'chat' }),
      );
    };
    expect(await say(host.alice, '!task count the doors')).to.include(denial);
    expect(await start(host.alice)).to.include(denial);
    expect(await say(host.bob, '!task count the doors')).to.not.include(denial);
    expect(await start(host.bob)).to.not.include(denial);
  });
});
