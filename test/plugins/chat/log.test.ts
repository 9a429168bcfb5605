import { createTestHost } from '@cinnabar/core/testing';
import { callTools, say, scriptedLlm } from '@cinnabar/local-models';
import { expect } from 'chai';
import { readLogs } from '../../support/log-files.js';

describe('chat: the log', () => {
  it('has a line for each activation, completion and tool call of an answer, with channel and message', async () => {
    const llm = scriptedLlm([callTools([{ name: 'find_tools', arguments: { query: 'party' } }]), say('Nothing.')]);
    await using host = await createTestHost({ plugins: ['admin', 'ai', 'chat', llm], logFiles: true });
    const question = host.alice.say(host.general, '!ai What can you do?');
    await host.settled();
    const lines = (await readLogs(host)).filter(({ plugin, level }) => plugin === 'chat' && level === 'info');
    const about = lines.filter((line) => line.messageId === question.id && line.channelId === host.general.id);
    expect(about.map(({ message }) => message)).to.deep.equal(['activation', 'completion', 'tool call', 'completion']);
    expect(about[1]).to.include.keys('model', 'inputTokens', 'outputTokens', 'usd', 'ms');
  });

  it('has one line for a rate limit of Discord, with the channel and the message', async () => {
    const llm = scriptedLlm([say('Yes.')]);
    await using host = await createTestHost({ plugins: ['admin', 'ai', 'chat', llm], logFiles: true });
    const { rest } = host.discord.faults;
    rest.rateLimit({ method: 'POST', route: '/channels/:channelId/messages', retryAfterMs: 5 });
    host.alice.say(host.general, '!ai Hello');
    await host.settled();
    const answer = host.general.messages.at(-1);
    expect(answer?.content).to.equal('Yes.');
    rest.rateLimit({ method: 'PATCH', route: '/channels/:channelId/messages/:messageId', retryAfterMs: 5 });
    await host.client.rest.patch(`/channels/${host.general.id}/messages/${answer?.id}`, { body: { content: 'No.' } });
    const limits = (await readLogs(host)).filter(({ message }) => message === 'rate limit of Discord');
    expect(
      limits.map(({ level, method, channelId, messageId }) => [level, method, channelId, messageId]),
    ).to.deep.equal([
      ['info', 'POST', host.general.id, undefined],
      ['info', 'PATCH', host.general.id, answer?.id],
    ]);
  });
});
