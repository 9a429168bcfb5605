import { createTestHost } from '@cinnabar/core/testing';
import { callTool, say, scriptedLlm } from '@cinnabar/local-models';
import { expect } from 'chai';

describe('security: tool output in the channel', () => {
  it('shows that a tool was used, and its result only if everyone may read its sources', async () => {
    const llm = scriptedLlm();
    await using host = await createTestHost({ plugins: ['admin', 'ai', 'chat', 'discord-tools', llm] });
    const { guild, general, you, alice, bot } = host;
    const role = guild.createRole({ name: 'Staff' });
    const staff = guild.createChannel({
      name: 'staff',
      overwrites: [
        { for: guild.everyone, deny: ['ViewChannel'] },
        { for: role, allow: ['ViewChannel', 'ReadMessageHistory'] },
        { for: bot, allow: ['ViewChannel', 'ReadMessageHistory'] },
      ],
    });
    guild.giveRole(alice, role);
    you.say(staff, 'the zebra plan is off');
    alice.say(general, 'good morning, all');
    you.say(general, '!set chat toolOutputVisible true');
    await host.settled();
    const shownFor = async (channelId: string) => {
      const before = general.messages.length;
      llm.push(callTool('discord_read_messages', { channelId, limit: 5 }), say('So it is.'));
      alice.say(general, '!ai What is said there?');
      await host.settled();
      return general.messages
        .slice(before)
        .filter(({ webhookId }) => webhookId !== undefined)
        .map(({ content }) => content)
        .join();
    };
    expect(await shownFor(general.id)).to.include('good morning, all');
    expect(await shownFor(staff.id))
      .to.include(staff.id)
      .and.include('Not shown here')
      .and.not.include('zebra plan');
  });
});
