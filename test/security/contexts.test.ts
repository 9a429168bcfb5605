import { createTestHost } from '@cinnabar/core/testing';
import { callTool, hang, type ModelStep, say, scriptedLlm } from '@cinnabar/local-models';
import { expect } from 'chai';

const SECRET = 'the zebra plan is off';

describe('security: what a model is shown of earlier results', () => {
  it('is what all answered members may read now: not what the owner read in a hidden channel, nor what was deleted', async () => {
    let step: ModelStep | undefined;
    const llm = scriptedLlm(() => {
      const next = step ?? say('Well.');
      step = undefined;
      return next;
    });
    await using host = await createTestHost({
      plugins: [llm, 'admin', 'ai', 'chat', 'confirm', 'discord-tools', 'mcp'],
    });
    const { guild, general, you, alice, bot, settled } = host;
    const staff = guild.createChannel({
      name: 'staff',
      overwrites: [
        { for: guild.everyone, deny: ['ViewChannel'] },
        { for: bot, allow: ['ViewChannel', 'ReadMessageHistory'] },
      ],
    });
    await settled();
    const secret = you.say(staff, SECRET);
    you.say(general, '!set confirm require destructive');
    await settled();
    const shown = async (user: typeof you, text: string) => {
      const before = llm.requests.length;
      user.say(general, `!ai ${text}`);
      await settled();
      return JSON.stringify(llm.requests.slice(before).map(({ messages }) => messages));
    };

    step = callTool('discord_read_messages', { channelId: staff.id });
    expect(await shown(you, 'What is new among the staff?')).to.include(SECRET);
    expect(await shown(you, 'And what was that again?')).to.include(SECRET);
    expect(await shown(alice, 'What did they say?'))
      .to.not.include(SECRET)
      .and.not.include('discord_read_messages');
    you.delete(secret);
    await settled();
    expect(await shown(you, 'Once more?')).to.not.include(SECRET);
  });

  it('is, for several who are answered together, only the history that each of them may read', async () => {
    const llm = scriptedLlm(({ text }) => (text.includes('first') ? hang(say('One moment.')) : say('Well.')));
    await using host = await createTestHost({ plugins: [llm, 'ai', 'chat'] });
    const { guild, you, alice, bob, settled } = host;
    const plans = guild.createChannel({
      name: 'plans',
      overwrites: [{ for: bob, deny: ['ReadMessageHistory'] }],
    });
    const start = you.say(plans, SECRET);
    const thread = you.startThread(start, 'about it');
    await settled();
    you.say(thread, '!ai the first question');
    await llm.hanging();
    bob.say(thread, '!ai what of it?');
    alice.say(thread, '!ai and what of me?');
    await host.discord.settled();
    llm.release();
    await settled();
    const request = JSON.stringify(llm.requests.at(-1)?.messages);
    expect(request).to.include('and what of me?').and.include('what of it?').and.not.include(SECRET);
  });
});
